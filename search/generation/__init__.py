"""One generation of a library, open for queries (`opened`): its catalog, its facets, and the labels it filters by."""
