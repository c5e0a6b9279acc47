"""How is a report dressed? The style sheet of its page, whose colours are those of the charts, light and dark."""

STYLE = """
:root { color-scheme: light dark; --text: #1c2127; --soft: #5f6b7a; --line: #d9dee5; --page: #fff; --card: #f6f8fa;
  --c0: #0b7a75; --c1: #3a6fd8; --c2: #d9822b; --c3: #9b4fb5; --c4: #c23b5a; --c5: #8a94a3; --c6: #7a6a2f;
  font: 15px/1.45 system-ui, sans-serif; color: var(--text); background: var(--page); }
@media (prefers-color-scheme: dark) { :root { --text: #e6e9ee; --soft: #98a2b0; --line: #343b46; --page: #14171c;
  --card: #1d2229; --c0: #2cb5ad; --c1: #7aa2ff; --c2: #f0a25a; --c3: #c58ae0; --c4: #f07a92; --c5: #8a94a3;
  --c6: #cbb766; } }
body { margin: 2rem auto; padding: 0 1.5rem; max-width: 78rem; }
h1 { font-size: 1.6rem; margin: 0 0 .6rem; } h2 { font-size: 1.2rem; margin: 2.2rem 0 .8rem; }
h2 small { font-weight: 400; color: var(--soft); margin-left: .4rem; }
.facts { list-style: none; margin: 0; padding: 0; color: var(--soft); font-size: .87rem; overflow-wrap: anywhere; }
.charts { display: flex; flex-wrap: wrap; align-items: flex-start; gap: 1rem 1.5rem; margin-bottom: 1rem; }
.chart { max-width: 100%; height: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; width: 100%; }
th, td { text-align: right; padding: .3rem .5rem; border-bottom: 1px solid var(--line); font-weight: 400; }
th:first-child { text-align: left; } thead th { color: var(--soft); font-size: .82rem; }
td small { display: block; color: var(--soft); font-size: .72rem; }
td.left, th.left { text-align: left; }
summary { cursor: pointer; color: var(--soft); margin: .5rem 0; }
.case { display: grid; grid-template-columns: 15rem 14.5rem 1fr; gap: 1rem; background: var(--card);
  border-radius: .6rem; padding: .7rem .9rem; margin-bottom: .6rem; break-inside: avoid; }
.asked { display: flex; flex-direction: column; justify-content: center; overflow-wrap: anywhere; }
.asked:has(.shot) { flex-direction: row; justify-content: flex-start; align-items: center; gap: .8rem; }
.asked b { font-size: 1.05rem; } .asked small { display: block; color: var(--soft); }
.shot { height: 4.2rem; max-width: 7rem; object-fit: contain; image-rendering: pixelated; border-radius: .3rem; }
.group em { font-style: normal; color: var(--soft); font-size: .75rem; } .group > div { display: flex; gap: .5rem; }
figure { margin: 0; width: 4.4rem; text-align: center; }
figure img, .gone { box-sizing: border-box; width: 3.4rem; height: 3.4rem; padding: .5rem; border-radius: .5rem;
  background: #fff; object-fit: contain; border: 1px solid var(--line); }
figure img.dark { background: #1b1c1e; }
.gone { display: inline-grid; place-items: center; color: #888; font-size: .7rem; }
figcaption { font-size: .7rem; line-height: 1.2; color: var(--soft); overflow-wrap: anywhere; }
@media (max-width: 60rem) { .case { grid-template-columns: 1fr; } }
"""
