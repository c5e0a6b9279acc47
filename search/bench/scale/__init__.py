"""How cost grows: a synthetic library of each size, every stage of it timed in a process of its own."""
