"""All that ranking weighs with, set by hand: log-odds of being right, unless a line says otherwise.

What a merge measures (what a cosine is worth, the curves from evidence to scores) is data of the generation:
`manifest.calibration`.
"""

from indexer.merging.manifest import COVERAGE

WORDS = COVERAGE
"""Of all words of a query standing in an icon's name; merges fit their curve with it."""
STYLE = -4.0
"""Of lacking the style that was asked for: what does stands behind all that is as near."""
OF_CORNER = 0.25
"""Of that, what corners and weights count, beside 1 for a look."""
WITHOUT = -4.5
"""Of being all that was asked to leave out."""
SETS_FIRST = 3.0
"""How many times more the standing of its set counts for an icon that bears the query as its name or tag: the vectors
of those differ by less than their sets, of four in five among 214 icons called "home" by .26 or less."""
PLAIN = 0.3
"""Of such an icon that states no style where none was asked for: "bell" is that icon, before its "bell-thin". By as
much the largest set stands before one of a single icon."""
SYNONYM = 2.5
"""Of bearing a name of which most other sets say what is asked, instead of what its words say; times what the picture
says of it. Of Lucide's tags over bare names 1.0 loses R@1 .010."""
BESIDE_NAMED = 0.4
"""Of that, where a name here says all that is asked: "fishing" is the rod, then the fish. Of the words of other names,
too, in a set that has an icon of the very name: next to its blank checkbox is no blank circle."""
DRAWN, DRAWN_NEXT = -2.5, -0.6
"""Of being what is customarily drawn for what is meant, beside being asked for by name; of each further drawing. From
-2 to -3 open sets agree within their intervals; 0 loses R@10 .013 of Lucide's tags."""
BEYOND_TAGS = 3.0
"""By which an icon whose name says all that is asked is better than all that state it as a tag, to stand among these:
"shopping" is a bag, no shirt. Of Lucide's tags it loses R@1 .013, and 0 would lose .061."""
OTHER_READINGS = 0.5
"""What another reading of a text in another language counts in its vector, times its own weight, beside 1 for the
first."""
PARTS = 0.7
"""Of each log-odd by which what is worst shown of a drawing's parts lies below their mean."""
FREE = 0.1
"""What a permissive licence adds."""
PREFERRED = 1.0
"""What the most preferred set gains, of n each further one an n-th less, and of a screen's icons those of their set: it
is what one expects. Bundled samples lose it: own sources come first."""
CERTAINTY = 2.0
"""That being called so, named so or tagged so adds to a score: such an icon is right."""
UNKNOWN_COST = 1.2
"""Lost where neither the library nor the encoder knows a word of the query: true of every made-up word, and of one in
eight queries of the benchmark."""
LEAST_SCORE = 0.1
"""Each hit has this score; where not even the best one reaches it, the answer is empty."""
SHARE_OF_BEST = 0.15
"""Each hit has this share of the best one's score, too."""
GOOD_SCORE = 0.5
"""Where the best hit has less, nothing may be right: whoever shows the answer says so."""
