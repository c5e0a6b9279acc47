import pytest

from indexer.sources.licences import FAMILIES, Family, family

KNOWN: dict[str | None, Family] = {
    "MIT": "permissive",
    "Apache-2.0": "permissive",
    "Apache 2.0": "permissive",
    "BSD-3-Clause": "permissive",
    "ISC": "permissive",
    "0BSD": "permissive",
    "Unlicense": "permissive",
    "The Unlicense": "permissive",
    "CC0-1.0": "permissive",
    "Public Domain": "permissive",
    "CC-BY-4.0": "attribution",
    "CC BY 3.0": "attribution",
    "Creative Commons Attribution 4.0": "attribution",
    "CC-BY-SA-4.0": "share-alike",
    "OFL-1.1": "share-alike",
    "SIL Open Font License": "share-alike",
    "MPL-2.0": "share-alike",
    "GPL-2.0-or-later": "copyleft",
    "LGPL-2.1": "copyleft",
    "AGPL-3.0-only": "copyleft",
    "CC-BY-NC-4.0": "non-commercial",
    "CC-BY-NC-SA-4.0": "non-commercial",
    "free for non-commercial use": "non-commercial",
    "CC-BY-ND-4.0": "no-derivatives",
    "UNLICENSED": "withheld",
    "No license": "withheld",
    "proprietary": "withheld",
    "SEE LICENSE IN LICENSE.txt": "unknown",
    "Commitment": "unknown",
    "": "unknown",
    None: "unknown",
}


@pytest.mark.parametrize(("licence", "expected"), KNOWN.items())
def test_a_licence_belongs_to_one_family_however_it_is_spelled(licence: str | None, expected: Family) -> None:
    assert family(licence) == expected
    assert family(licence.lower() if licence else licence) == expected


def test_of_several_licences_the_strictest_counts() -> None:
    assert family("(MIT AND CC-BY-4.0)") == "attribution"
    assert family("MIT OR GPL-3.0-only") == "copyleft"


def test_every_family_is_met_by_some_licence() -> None:
    assert set(KNOWN.values()) == set(FAMILIES)
