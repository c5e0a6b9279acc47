"""Are the texts of a script read as a browser would read them, without running it?"""

from indexer.languages.making.script_texts import Reference, leaves, objects


def test_texts_are_read_in_every_kind_of_quotes_with_their_escapes() -> None:
    source = r"""var a={copy:"L\xF6schen",'two words':'it\'s "one"',"u":`a
b`,emoji:"\uD83D\uDE00\u{1F600}",joined:"a\
b"};"""
    assert objects(source) == {
        "a": {"copy": "Löschen", "two words": 'it\'s "one"', "u": "a\nb", "emoji": "😀😀", "joined": "ab"}
    }


def test_an_object_is_called_by_the_last_part_of_what_it_is_assigned_to() -> None:
    source = "const de = { strings: {} };\nde.strings = {\n // a: {\n back: 'Zurück', /* } */ files: {'0': 'Datei'},\n}"
    assert objects(source) == {"de": {"strings": {}}, "strings": {"back": "Zurück", "files": {"0": "Datei"}}}


def test_names_and_numbers_are_references_and_no_texts() -> None:
    [tree] = objects("r={labels:i,n:5,kept:{text:'x'}}").values()
    assert isinstance(tree["labels"], Reference) and isinstance(tree["n"], Reference)
    assert list(leaves(tree)) == [("/kept/text", "x")]


def test_objects_with_functions_or_lists_are_left_out_and_those_behind_them_are_read() -> None:
    source = "var a={f(n){return n===1?{b:'c'}:0},g:'x'},l={m:['n']},z={y:'x={w:1}'};if(a=={}){}var cut={v:'u'"
    assert objects(source) == {"z": {"y": "x={w:1}"}}
