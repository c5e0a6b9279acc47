"""How is one configuration run, and several of them fairly? Knobs, pictures, trials in processes of their own."""
