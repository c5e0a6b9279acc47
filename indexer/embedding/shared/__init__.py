"""A plan that workers of many machines do: put into a store, claimed block by block, its shards collected."""
