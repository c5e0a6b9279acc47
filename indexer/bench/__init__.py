"""How fast icons are embedded, learnt and found here, and what decides it: one table of knobs, one report."""
