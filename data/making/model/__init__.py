"""What the bundled encoder learnt from, and how its text tower learnt English before it saw pictures."""
