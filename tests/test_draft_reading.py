"""What a draft says, whatever it is written in: as extraction will read it once it is published."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.extract.document import extract
from indexer.extract.draft import draft_document
from indexer.extract.rules import ExtractRules
from indexer.records import BlockKind, Document, Fetched, SpanKind, Zone
from indexer.urls import make_site

SITE = make_site("https://example.com/")
PROSE = (
    "Bees find their way home by the sun, by landmarks and by the smell of their own hive, and they tell each other"
    " where the flowers are."
)
GERMAN = "Die Bienen finden ihren Weg nach Hause mit der Sonne und dem Geruch ihres eigenen Stockes. " * 6


def read(text: str, name: str = "-", rules: ExtractRules | None = None) -> Document:
    return draft_document(text, name, SITE, rules or ExtractRules())


def texts(document: Document) -> list[str]:
    return [block.text for block in document.blocks]


# --- Markdown ---------------------------------------------------------------------------------------------------------

POST = f"""---
title: "Bees: a \\"short\\" guide"   # for now
lang: de-AT
tags: [bees]
---

{PROSE} See [the hive](/hive#door), `queen()` and **more**.

## Tools

- a [smoker](https://tools.example/smoker)
- a veil

| What | Why |
|------|-----|
| Honey | Sweet |

```python
hive = "{{% if bee %}}"
```
"""


def test_markdown_becomes_blocks_with_their_kinds() -> None:
    document = read(POST, "bees.md")
    assert (document.url, document.title, document.language, document.note) == (
        "", 'Bees: a "short" guide', "de", None,
    )  # fmt: skip
    assert [(block.kind, block.text) for block in document.blocks] == [
        (BlockKind.PARAGRAPH, f"{PROSE} See the hive, queen() and more."),
        (BlockKind.HEADING, "Tools"),
        (BlockKind.ITEM, "a smoker"),
        (BlockKind.ITEM, "a veil"),
        (BlockKind.CELL, "What"),
        (BlockKind.CELL, "Why"),
        (BlockKind.CELL, "Honey"),
        (BlockKind.CELL, "Sweet"),
        (BlockKind.CODE, 'hive = "{% if bee %}"'),
    ]


def test_links_and_code_of_markdown_are_spans_and_links_of_the_site() -> None:
    document = read(POST, "bees.md")
    block = document.blocks[0]
    assert [(span.kind, block.text[span.start : span.end], span.href) for span in block.spans] == [
        (SpanKind.LINK, "the hive", "https://example.com/hive"),
        (SpanKind.CODE, "queen()", None),
        (SpanKind.MARKUP, "more", None),
    ]
    assert [
        (link.target, link.internal, link.anchor, link.fragment, link.zone, link.block) for link in document.links
    ] == [
        ("https://example.com/hive", True, "the hive", "door", Zone.CONTENT, 0),
        ("https://tools.example/smoker", False, "smoker", "", Zone.CONTENT, 2),
    ]


@pytest.mark.parametrize(
    ("text", "title", "first"),
    [
        (f"# Bees\n\n{PROSE}", "Bees", PROSE),
        (f"Bees\n====\n\n{PROSE}", "Bees", PROSE),
        (f"---\ntitle: Bees\n---\n# Bees\n\n{PROSE}", "Bees", PROSE),
        (f"---\ntitle: Bees\n---\n# Wasps\n\n{PROSE}", "Bees", "Wasps"),
        (f"---\nTitle: 'The bee''s way'\n---\n{PROSE}", "The bee's way", PROSE),
        (f'+++\ntitle = "Bees"\n+++\n{PROSE}', "Bees", PROSE),
        (f"---\ntitle: >-\n  Bees\n---\n## Wasps\n\n{PROSE}", "Wasps", PROSE),
        (f"---\n---\n{PROSE}", f"{PROSE[:99]}…", PROSE),
        ("**Bees** are\nmany.", "Bees are many.", "Bees are many."),
    ],
)  # fmt: skip
def test_the_title_of_markdown(text: str, title: str, first: str) -> None:
    document = read(text, "draft.markdown")
    assert (document.title, document.blocks[0].text) == (title, first)


def test_a_line_across_the_page_is_no_front_matter() -> None:
    assert texts(read(f"---\n\nHello there, bees.\n\n---\n\n{PROSE}", "x.md")) == ["Hello there, bees.", PROSE]


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ('Look: {{< figure src="bee.png" >}} a bee.', "Look: a bee."),
        ("{{% notice tip %}}\nA bee.\n{{% /notice %}}", "A bee."),
        ("{% include note.html\n  text='x' %}\n\nA bee.", "A bee."),
        ("A bee.\n{: .note}", "A bee."),
        ('A [bee]({{< ref "bee.md" >}}) flies.', "A bee flies."),
        ("A bee.[^1] It flies.\n\n[^1]: As seen.\n[^2]: https://example.com/", "A bee. It flies.|As seen.|https://example.com/"),
        ("A <b>bee</b>.\n\n<div><p>It <em>flies</em>.</p></div>\n\n<!-- more -->", "A bee.|It flies."),
        ("A template says `{% if bee %}` or `[^bee]`.", "A template says {% if bee %} or [^bee]."),
        ("In Vue it is {{ bee }}.", "In Vue it is {{ bee }}."),
        ("{% highlight ruby %}\nbee {:a => 1}\n\nfly\n{% endhighlight %}", "bee {:a => 1}\n\nfly"),
    ],
)  # fmt: skip
def test_what_site_generators_put_something_else_in_the_place_of(written: str, says: str) -> None:
    assert "|".join(texts(read(written, "x.md"))) == says


def test_a_variable_at_the_beginning_of_an_address_is_the_sites_own() -> None:
    text = "A [bee]({{ site.baseurl }}/bee), a [wasp][1].\n\n[1]: {{ site.url }}/wasp"
    assert [link.target for link in read(text, "x.md").links] == ["https://example.com/bee", "https://example.com/wasp"]


# --- HTML -------------------------------------------------------------------------------------------------------------


def test_a_part_of_a_page_is_all_text() -> None:
    html = f'<h1>Bees</h1><p>Short.</p><ul><li><a href="/a">One</a></li></ul><p>{PROSE}</p>'
    document = read(html, "bees.html", ExtractRules("#content"))
    assert (document.title, texts(document), document.note) == ("Bees", ["Short.", "One", PROSE], None)
    assert document.links[0].block == 1


def test_what_the_configuration_removes_is_removed_from_a_part_too() -> None:
    assert texts(read(f'<p>{PROSE}</p><p class="ad">Buy</p>', "x.html", ExtractRules(None, (".ad",)))) == [PROSE]


def test_a_whole_page_is_read_as_if_it_were_published() -> None:
    html = (
        '<!doctype html><html lang="en"><head><title>Bees | The Site</title><meta name="robots" content="noindex">'
        '<link rel="canonical" href="/bees"></head><body><nav><a href="/">Home</a></nav><main><h1>Bees</h1>'
        f'<p>{PROSE} <a href="/hive">Hive</a></p><p>{PROSE} Again.</p></main><footer>Ours</footer></body></html>'
    )
    published = extract(Fetched("https://example.com/", html.encode()), SITE, ExtractRules())
    draft = read(html)
    assert texts(draft) == [f"{PROSE} Hive", f"{PROSE} Again."]
    for field in ("title", "language", "blocks", "links", "text_hash", "canonical", "noindex"):
        assert getattr(draft, field) == getattr(published, field)


def test_a_link_to_a_place_in_the_draft_leads_to_no_page() -> None:
    document = read(f'<p>{PROSE} <a href="#end">The end</a></p>', "x.html")
    assert [(span.kind, span.href) for span in document.blocks[0].spans] == [(SpanKind.LINK, "")]
    assert document.links == ()


# --- plain text -------------------------------------------------------------------------------------------------------


def test_blank_lines_part_the_paragraphs_of_plain_text() -> None:
    document = read(f"Keeping bees\n\n{PROSE}\nAnd more.\r\n \t\r\n\r\nLast <b>one</b>.\n", "bees.txt")
    assert document.title == "Keeping bees"
    assert [(block.kind, block.text) for block in document.blocks] == [
        (BlockKind.HEADING, "Keeping bees"),
        (BlockKind.PARAGRAPH, f"{PROSE} And more."),
        (BlockKind.PARAGRAPH, "Last <b>one</b>."),
    ]


def test_plain_text_that_begins_with_a_sentence_has_no_heading() -> None:
    document = read(f"{PROSE}\n\nMore.")
    assert document.title == f"{PROSE[:99]}…"
    assert {block.kind for block in document.blocks} == {BlockKind.PARAGRAPH}


def test_the_language_is_what_the_text_looks_like() -> None:
    assert [read(text, "x.txt").language for text in (GERMAN, PROSE * 4, "")] == ["de", "en", "und"]


# --- without a name ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (f"---\ntitle: T\n---\n*{PROSE}*", PROSE),
        (f"---\ntitle: T\n---\n<div>{PROSE}</div>", PROSE),
        (f"Intro with *stars*.\n\n## Heading\n\n{PROSE}", "Intro with stars."),
        (f"Intro with a [link](/a).\n\n{PROSE}", "Intro with a link."),
        ('<p align="center"><img src="x"></p>\n\n# Title\n\n*Words.*', "Words."),
        (f"<p>{PROSE}</p><p>- no list</p>", PROSE),
        (f"\n <html><body><p>{PROSE}</p>", PROSE),
        ("2 * 3 * 4 is 24, and a < b.", "2 * 3 * 4 is 24, and a < b."),
        ("<https://example.com> is *ours*.", "<https://example.com> is *ours*."),
    ],
)
def test_what_has_no_name_is_told_by_its_look(text: str, first: str) -> None:
    assert texts(read(text))[0] == first


def test_the_name_tells_before_the_look() -> None:
    assert texts(read("<p>A *bee*.</p>", "x.txt")) == ["<p>A *bee*.</p>"]
    assert texts(read("A *bee*.", "x.html")) == ["A *bee*."]
    assert texts(read("A *bee*.", "folder.txt/X.MD")) == ["A bee."]


# --- any text ---------------------------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    [
        *("---\n", "+++\n", "title: x\n", "lang: y\n", "# ", "- ", "> ", "```\n", "`", "| a | b |\n|--|--|\n", "\n\n"),
        *("[^1]", "[^1]: ", "[a](", ")", "{{< ", " >}}", "{% ", "%}", "{{", "}}"),
        *("<p>", "</p>", "<html>", "<body>", "<pre>", "<a href='", "'>", "&#0;", "<!--", "-->"),
        *("\0", "\ud800", "\ufeff", "x"),
    ]
)


@given(
    st.lists(PIECES | st.text(max_size=8), max_size=30).map("".join), st.sampled_from(["-", "x.md", "x.html", "x.txt"])
)
@settings(max_examples=300, deadline=None)
def test_no_text_breaks_it(text: str, name: str) -> None:
    document = read(text, name)
    assert all(0 <= s.start < s.end <= len(b.text) for b in document.blocks for s in b.spans)


@pytest.mark.parametrize("piece", ["<!-- a -->", "[^", "{{< ", "{% ", "`", "```\n", "**a ", "title: a\n"])
def test_no_long_text_takes_long(piece: str) -> None:
    """What looks again and again from every place hangs here."""
    read(piece * 5_000)
    read(piece * 5_000, "x.md")


def test_what_is_nested_is_read() -> None:
    nested = "".join(f"{'  ' * depth}- level {depth}\n" for depth in range(20))
    assert texts(read(nested, "x.md")) == [f"level {depth}" for depth in range(20)]


LINES = st.text(st.characters(exclude_characters="\n\r\ufeff", exclude_categories=["Cs"]), min_size=1).filter(str.strip)


@given(st.lists(st.lists(LINES, min_size=1, max_size=3).map("\n".join), max_size=5))
@settings(deadline=None)
def test_every_paragraph_of_plain_text_comes_back(paragraphs: list[str]) -> None:
    assert texts(read("\n\n".join(paragraphs), "x.txt")) == [" ".join(paragraph.split()) for paragraph in paragraphs]
