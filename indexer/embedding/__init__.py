"""Stage two, plan -> shards: `planning` writes the plan, `launch` has it done by ranks, `embed` is what a rank does."""
