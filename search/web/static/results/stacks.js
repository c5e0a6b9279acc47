// Which hits stand in one stack? Those of several sets that bear the same name: the best of them stands for all.

/** Groups of hits in the order of their best ones; with `fold` off each hit is a group of its own. */
export function grouped(hits, { fold }) {
  if (!fold) return hits.map((hit) => [hit]);
  const groups = new Map();
  for (const hit of hits) {
    const group = groups.get(hit.words);
    if (group) group.push(hit);
    else groups.set(hit.words, [hit]);
  }
  return [...groups.values()].flatMap((group) => (countSets(group) > 1 ? [group] : group.map((hit) => [hit])));
}

export const countSets = (group) => new Set(group.map((hit) => hit.set)).size;

/** What is to be seen of groups, in order: `{ hit, stack }`; `isOpen(group)` tells which are unfolded. */
export function* seen(groups, isOpen) {
  for (const group of groups) {
    const [first, ...others] = group;
    if (!others.length) yield { hit: first, stack: null };
    else {
      const [n, open] = [countSets(group), isOpen(group)];
      yield { hit: first, stack: { n, isOpen: open, isFirst: true } };
      if (open) for (const hit of others) yield { hit, stack: { isOpen: true, isFirst: false } };
    }
  }
}
