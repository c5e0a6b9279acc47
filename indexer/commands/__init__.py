"""The commands that build, measure and mend a library, and teach a model: what a person types and sees."""
