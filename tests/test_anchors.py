"""On which words a link may stand, and which of them name a page."""

from __future__ import annotations

from indexer.anchors import Names, best_runs, phrase
from indexer.corpus import Statistics
from indexer.lexical import rarity_of
from indexer.prose import Prose, prose
from indexer.records import Block, BlockKind, Span, SpanKind

NOTHING = Statistics(rarity_of([]), rarity_of([]), frozenset(), frozenset(), frozenset(), frozenset(), {})


def the(text: str, *spans: Span, kind: BlockKind = BlockKind.PARAGRAPH, language: str = "en") -> list[Prose]:
    return prose([Block(kind, text, spans)], language, NOTHING)


def span(text: str, part: str, kind: SpanKind) -> Span:
    start = text.index(part)
    return Span(kind, start, start + len(part), "https://a.example/" if kind is SpanKind.LINK else None)


def anchors(text: str, name: str, *spans: Span, language: str = "en") -> list[str]:
    (block,) = the(text, *spans, language=language)
    runs = best_runs(block, {phrase(name, language): 1}, lambda _: 5.0)
    return [text[block.words[run.first].start : block.words[run.last].end] for run in runs]


def test_the_words_of_a_name_are_found_as_they_stand_there() -> None:
    assert anchors("Trickle Oxalic Acid in winter, not before.", "oxalic acid")[0] == "Oxalic Acid"


def test_accents_and_case_do_not_matter() -> None:
    assert anchors("Wir lesen über Königinnen und Völker.", "Koniginnen", language="de") == ["Königinnen"]


def test_no_anchor_inside_a_link() -> None:
    text = "See the oxalic acid page for more of it."
    assert anchors(text, "oxalic acid", span(text, "oxalic acid", SpanKind.LINK)) == []


def test_no_anchor_across_markup_or_punctuation() -> None:
    text = "It was oxalic acid that we used here."
    assert "oxalic acid" not in anchors(text, "oxalic acid", span(text, "acid", SpanKind.MARKUP))
    assert "oxalic, acid" not in anchors("It was oxalic, acid that we used.", "oxalic acid")


def test_code_is_linked_whole_and_by_its_name_or_not_at_all() -> None:
    text = "Use mod_ssl or ssl_engine on there."
    assert anchors(text, "mod_ssl", span(text, "mod_ssl", SpanKind.CODE)) == ["mod_ssl"]
    assert anchors(text, "ssl_engine", span(text, "ssl_engine on", SpanKind.CODE)) == []


def test_an_anchor_is_made_of_whole_words() -> None:
    assert anchors("A web-server was set up for us.", "server") == []
    assert anchors("The server was set up for us.", "server") == ["server"]


def test_an_anchor_does_not_begin_or_end_with_a_function_word() -> None:
    found = anchors("We wrote of the art of the bee in May.", "the art of the bee")
    assert found[0] == "art of the bee"


def test_words_that_bridge_strangers_are_no_anchor() -> None:
    assert "queen in the evening and hang the new" not in anchors(
        "Take the queen in the evening and hang the new cage.", "new queen"
    )


def test_headings_code_captions_and_lists_of_links_are_no_prose() -> None:
    text = "The oxalic acid page of ours"
    for kind in (BlockKind.HEADING, BlockKind.CODE, BlockKind.CAPTION):
        assert the(text, kind=kind) == []
    assert the(text, span(text, text, SpanKind.LINK)) == []


def test_names_are_heard_only_on_free_words() -> None:
    names = Names({("oxalic", "acid"): frozenset({1})}, {("hive",): {2: 3}})
    text = "Put oxalic acid into the hive slowly."
    assert names.said_in(the(text)) == {("oxalic", "acid"), ("hive",)}
    assert names.said_in(the(text, span(text, "hive", SpanKind.LINK))) == {("oxalic", "acid")}
