"""A library of any size that never was: sets as real ones, drawn from a real library, with vectors of its clusters."""
