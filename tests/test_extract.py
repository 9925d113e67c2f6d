"""What a page says, whatever its HTML."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.extract.document import extract
from indexer.extract.rules import ExtractRules
from indexer.passages import cut
from indexer.records import BlockKind, Document, Fetched, SpanKind, Zone
from indexer.urls import make_site
from tests.support.tokens import real_counter

SITE = make_site("https://example.com/")
URL = "https://example.com/section/page.html"
PROSE = (
    "Bees find their way home by the sun, by landmarks and by the smell of their own hive, and they tell each other"
    " where the flowers are. A good keeper watches the entrance before opening anything at all."
)
COUNTER = real_counter()


def read(html: str | bytes, rules: ExtractRules | None = None, url: str = URL, **headers: str) -> Document:
    body = html if isinstance(html, bytes) else html.encode()
    return extract(Fetched(url, body, **headers), SITE, rules or ExtractRules())


def page(body: str, head: str = "<title>Bees</title>") -> str:
    return f'<!doctype html><html lang="en"><head>{head}</head><body><main>{body}</main></body></html>'


def text(document: Document) -> str:
    return "\n".join(block.text for block in document.blocks)


# --- pages that must not break it -------------------------------------------------------------------------------------

AWKWARD = {
    "empty body": (b"", ""),
    "one byte": (b"x", "x"),
    "only blanks": (b" \n\t ", ""),
    "NUL bytes": (f"<p>a\0b {PROSE}</p>".encode(), PROSE),
    "no html, head or body": (f"<title>T</title><p>{PROSE}".encode(), PROSE),
    "plain text served as HTML": (PROSE.encode(), PROSE),
    "wrong charset": (f'<meta charset="shift_jis"><p>{PROSE}</p>'.encode(), PROSE),
    "charset in meta only": (
        '<meta charset="iso-8859-1"><p>Über führende Größen</p>'.encode("latin-1"),
        "Über führende",
    ),
    "no charset": (f"<p>Größe {PROSE}</p>".encode(), "Größe"),
    "Shift_JIS": ('<meta charset="Shift_JIS"><p>蜜蜂は太陽と匂いで巣に帰る</p>'.encode("shift_jis"), "蜜蜂は太陽"),
    "Shift_JIS that nothing names": (
        f"{'<br>' * 500}<p>蜜蜂は太陽と匂いで巣に帰る。養蜂家は巣門を見る。</p>".encode("shift_jis"),
        "蜜蜂は太陽と匂い",
    ),
    "UTF-8 that the server calls Latin-1": ('<meta charset="iso-8859-1"><p>Größe</p>'.encode(), "Größe"),
    "a surrogate by its number": (f"<p>&#xD800; {PROSE}</p>".encode(), PROSE),
    "invalid UTF-8": (b'<meta charset="utf-8"><p>a\xff\xfeb ' + PROSE.encode() + b"</p>", PROSE),
    "XHTML": (
        f'<?xml version="1.0" encoding="UTF-8"?><html xmlns="http://www.w3.org/1999/xhtml" xml:lang="en"><head>'
        f"<title>T</title></head><body><p>{PROSE}</p></body></html>".encode(),
        PROSE,
    ),
    "CDATA": (f"<p><![CDATA[hidden]]>{PROSE}</p>".encode(), PROSE),
    "only a table": (
        f"<table><tr><td>{PROSE}</td><td>Second cell of the table</td></tr></table>".encode(),
        "Second cell",
    ),
    "only code": (b"<pre>def hive():\n    return 'honey'\n" + b"x = 1\n" * 40 + b"</pre>", "def hive():\n    return"),
    "text in the body": (f"<body>{PROSE}<br><br>Another paragraph, {PROSE}</body>".encode(), "Another paragraph"),
    "a bad end tag": (f"<p>{PROSE}</a--> and more words</p>".encode(), "and more words"),
    "deep nesting": (b"<div>" * 5000 + PROSE.encode() + b"</div>" * 5000, PROSE),
    "base64 images": (f'<p><img src="data:image/png;base64,{"A" * 100_000}">{PROSE}</p>'.encode(), PROSE),
    "inline SVG with links": (f'<svg><a href="/x"><text>drawn</text></a></svg><p>{PROSE}</p>'.encode(), PROSE),
}


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_pages_are_read_and_no_passage_is_too_long(name: str) -> None:
    html, expected = AWKWARD[name]
    document = read(html)
    assert expected in text(document)
    passages = cut(document.title, document.blocks, COUNTER)
    assert all(size <= COUNTER.limit for size in COUNTER.count([p.text for p in passages]))


def test_ten_megabytes_are_read() -> None:
    long = "<!-- nothing to read -->" * 400_000
    document = read(page(long + "".join(f"<p>{PROSE} Number {n}.</p>" for n in range(1000))))
    assert len(document.blocks) == 1000


def test_fifty_thousand_links_are_read() -> None:
    document = read(page(f"<p>{PROSE}</p>" + "".join(f'<a href="/p{n}">Page {n}</a> ' for n in range(50_000))))
    assert len(document.links) == 50_000


@given(st.binary(max_size=300))
@settings(max_examples=80, deadline=None)
def test_no_bytes_break_it(body: bytes) -> None:
    read(body)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_no_damage_to_a_page_breaks_it(data: st.DataObject) -> None:
    html = page(f'<nav><a href="/">Home</a></nav><h1>T</h1><p>{PROSE} <a href="/a#b">link</a> <em>x</em></p>').encode()
    start = data.draw(st.integers(0, len(html)))
    end = data.draw(st.integers(start, min(len(html), start + 60)))
    read(html[:start] + data.draw(st.binary(max_size=20)) + html[end:])


# --- blocks, spans, links ---------------------------------------------------------------------------------------------


def test_spans_are_exact() -> None:
    document = read(
        page(f'<p>{PROSE} See <a href="/a">the first</a> and <em>the <a href="/b">second</a></em> <code>x</code>.</p>')
    )
    block = document.blocks[0]
    said = [(span.kind, block.text[span.start : span.end], span.href) for span in block.spans]
    assert said == [
        (SpanKind.LINK, "the first", "https://example.com/a"),
        (SpanKind.MARKUP, "the second", None),
        (SpanKind.LINK, "second", "https://example.com/b"),
        (SpanKind.CODE, "x", None),
    ]


def test_a_nested_list_keeps_its_items_apart() -> None:
    document = read(page(f"<p>{PROSE}</p><ul><li>One<ul><li>Inner</li></ul></li><li>Two</li></ul><p>{PROSE} End.</p>"))
    assert [b.text for b in document.blocks if b.kind is BlockKind.ITEM] == ["One", "Inner", "Two"]


def test_hidden_words_are_not_read() -> None:
    document = read(page(f'<p>{PROSE}<span hidden>secret</span><span style="display:none">secret</span></p>'))
    assert "secret" not in text(document)


def test_zones_by_names_and_roles() -> None:
    document = read(
        '<header><a href="/1">a</a></header><nav><a href="/2">b</a></nav><div class="sidebar"><a href="/3">c</a></div>'
        f'<main><article><header><a href="/4">d</a></header><p>{PROSE}<a href="/5">e</a></p></article></main>'
        '<div role="contentinfo"><a href="/6">f</a></div><div class="breadcrumbs"><a href="/7">g</a></div>'
    )
    zones = {link.target[-1]: link.zone for link in document.links}
    assert zones == {
        "1": Zone.HEADER, "2": Zone.NAVIGATION, "3": Zone.ASIDE, "4": Zone.CONTENT, "5": Zone.CONTENT,
        "6": Zone.FOOTER, "7": Zone.NAVIGATION,
    }  # fmt: skip


def test_links_are_resolved_and_others_left_out() -> None:
    document = read(
        page(
            f'<p>{PROSE}<a href="a?utm_source=x#part">in</a><a href="https://other.example/">out</a>'
            '<a href="#top">no</a>'
            '<a href="mailto:x@y">no</a><a href="">no</a><a href="/n" rel="nofollow">not followed</a>'
            '<a href="/i"><img alt="a bee" src="b.png"></a></p>',
            head='<base href="/docs/">',
        )
    )
    said = [(x.target, x.internal, x.anchor, x.fragment, x.follow, x.alt) for x in document.links]
    assert said == [
        ("https://example.com/docs/a", True, "in", "part", True, ""),
        ("https://other.example/", False, "out", "", True, ""),
        ("https://example.com/n", True, "not followed", "", False, ""),
        ("https://example.com/i", True, "", "", True, "a bee"),
    ]


# --- which blocks are the text ----------------------------------------------------------------------------------------


def test_lists_of_links_are_not_the_text_but_their_links_are_known() -> None:
    entries = "".join(f'<li><a href="/{name}">{name}</a></li>' for name in ("swarms", "queens", "drones"))
    document = read(
        page(f"<h1>Bees</h1><p>{PROSE}</p><h2>See also</h2><ul>{entries}</ul><h2>Sources</h2><p>{PROSE}.</p>")
    )
    assert [b.text for b in document.blocks] == [PROSE, "Sources", f"{PROSE}."]
    assert [(x.anchor, x.zone, x.block) for x in document.links] == [
        ("swarms", Zone.CONTENT, None),
        ("queens", Zone.CONTENT, None),
        ("drones", Zone.CONTENT, None),
    ]


def test_a_paragraph_that_ends_in_a_list_of_sentences_with_links_keeps_them() -> None:
    items = "".join(f'<li>The <a href="/{n}">queen number {n}</a> lays eggs.</li>' for n in range(3))
    document = read(page(f"<p>{PROSE}</p><ul>{items}</ul><p>{PROSE} End.</p>"))
    assert [b.text for b in document.blocks if b.kind is BlockKind.ITEM] == [
        f"The queen number {n} lays eggs." for n in range(3)
    ]


def test_the_sign_beside_a_heading_is_no_part_of_it() -> None:
    document = read(page(f'<p>{PROSE}</p><h2>Wasps<a href="#wasps">¶</a></h2><p>{PROSE} End.</p>'))
    assert document.blocks[1].text == "Wasps"


def test_readers_comments_are_not_the_text() -> None:
    document = read(page(f'<p>{PROSE}</p><div id="comments"><p>Lovely! I saw the very same thing last year.</p></div>'))
    assert text(document) == PROSE


def test_a_wrapper_with_the_name_of_a_sidebar_that_holds_the_page_is_none() -> None:
    document = read(f'<div class="sidebar"><h1>Bees</h1><p>{PROSE} <a href="/a">More</a></p></div>')
    assert document.links[0].zone is Zone.CONTENT
    assert PROSE in text(document)


def test_a_link_to_a_place_on_the_page_is_a_span_but_no_link_of_the_page() -> None:
    document = read(page(f'<p>{PROSE} See <a href="#end">the end</a>.</p>'))
    assert [(s.kind, s.href) for s in document.blocks[0].spans] == [(SpanKind.LINK, URL)]
    assert document.links == ()


# --- what a page says of itself ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        ("<title>Bees | The Site</title>", "<h1>All about bees</h1>", "All about bees"),
        ('<title>Bees | The Site</title><meta property="og:site_name" content="The Site">', "", "Bees"),
        ('<title>x</title><meta property="og:title" content="Bees at work">', "", "Bees at work"),
        ("<title>Bees and wasps</title>", "<h1>Site</h1><h1>Bees and wasps</h1>", "Bees and wasps"),
        ("<title>Bees | The Site</title>", "<h2>Bees</h2>", "Bees"),
        ("<title>Bees | The Site</title>", '<h1><a href="/">The Site</a></h1><h2>Bees</h2>', "Bees"),
        ("", "", ""),
    ],
)
def test_the_title(head: str, body: str, title: str) -> None:
    assert read(page(f"{body}<p>{PROSE}</p>", head)).title == title


@pytest.mark.parametrize(
    ("head", "refresh"),
    [
        ('<meta http-equiv="refresh" content="0; url=/x">', "https://example.com/x"),
        ("<meta http-equiv=REFRESH content=\"0;URL='/x'\">", "https://example.com/x"),
        ('<meta http-equiv="refresh" content="0; /x.html">', "https://example.com/x.html"),
        ('<meta http-equiv="refresh" content="0; url=https://other.example/">', "https://other.example/"),
        ('<meta http-equiv="refresh" content="300; url=/x">', None),
        ('<meta http-equiv="refresh" content="5">', None),
        ('<meta http-equiv="refresh" content="0; url=page.html">', None),
        ('<noscript><meta http-equiv="refresh" content="0; url=/x"></noscript>', None),
    ],
)
def test_a_meta_refresh(head: str, refresh: str | None) -> None:
    assert read(page(f"<p>{PROSE}</p>", head)).refresh == refresh


def test_robots_and_canonical() -> None:
    document = read(
        page(
            f"<p>{PROSE}</p>", '<meta name="robots" content="noindex, follow"><link rel=canonical href="/c/index.html">'
        )
    )
    assert (document.noindex, document.nofollow, document.canonical) == (True, False, "https://example.com/c/")
    assert read(page(PROSE), robots_tag="none").noindex
    assert not read(page(PROSE), robots_tag="otherbot: noindex").noindex
    elsewhere = read(page(f"<p>{PROSE}</p>", '<link rel="canonical" href="https://other.example/">'))
    assert (elsewhere.canonical, elsewhere.note) == (None, "its canonical names another site")


def test_german_text_that_says_it_is_english() -> None:
    german = "Die Bienen finden ihren Weg nach Hause mit der Sonne und dem Geruch ihres eigenen Stockes. " * 6
    assert read(page(f"<p>{german}</p>")).language == "de"
    assert read(page("<p>Kurz und gut.</p>")).language == "en"


def test_a_page_that_scripts_fill_is_named_so() -> None:
    document = read('<html lang="en"><body><div id="root"></div><script src="/app.js"></script></body></html>')
    assert "JavaScript" in (document.note or "")


def test_selectors_choose_and_remove() -> None:
    html = page(f'<div id="text"><p>{PROSE}</p><p class="ad">Buy now</p></div><p>Not this.</p>')
    document = read(html, ExtractRules("#text", (".ad",)))
    assert text(document) == PROSE


def test_a_selector_that_chooses_nothing_says_so_and_costs_no_text() -> None:
    document = read(page(f"<p>{PROSE}</p>"), ExtractRules("#article"))
    assert (text(document), document.note) == (PROSE, "nothing on it matches #article")


def test_what_changes_at_every_request_is_no_change() -> None:
    def rendered(stamp: str) -> Document:
        return read(
            page(f"<h1>Bees</h1><p>{PROSE}</p>")
            + f'<script nonce="{stamp}"></script><footer>Rendered {stamp}</footer><aside>Related: {stamp}</aside>'
        )

    assert rendered("one").text_hash == rendered("two").text_hash


def test_too_little_falls_back_and_says_so() -> None:
    """Sixty entries of a word or two: none is long enough to be told from a menu's."""
    entries = "".join(f"<div>Hive {n}</div>" for n in range(60))
    document = read(f'<html lang="en"><body>{entries}</body></html>')
    assert document.words == 120
    assert document.note == "little text was found, and all that the page shows was taken"
