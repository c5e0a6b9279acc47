"""Stage two, plan -> shards: `planning` writes the plan, `embed` has it done, `worker` does it, `sharing` shares it."""
