"""Bytes to a tree: the charset, and what lxml does not bear."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from chardetng_py import detect  # type: ignore[import-untyped]
from lxml import etree  # noqa: TID251
from lxml.html import HtmlElement, HTMLParser  # noqa: TID251
from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding, read_bom, to_unicode

_WESTERN = frozenset(("cp1252", "iso8859-1", "iso8859-15", "ascii"))
_TOLERATED = 0.1
"""Share of a text's non-ASCII characters that may be broken: a cut-off character makes no page another charset's."""
_NO_TEXT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_INLINE = frozenset(
    ("a", "b", "big", "code", "em", "font", "i", "s", "small", "span", "strong", "sub", "sup", "tt", "u")
)
_FLATTENINGS = 8
_WITHOUT_WORDS = (
    "applet", "audio", "canvas", "datalist", "embed", "iframe", "meter", "noembed", "noframes", "noscript", "object",
    "progress", "rp", "rt", "script", "select", "style", "template", "textarea", "video",
)  # fmt: skip


def decode(body: bytes, content_type: str) -> str:
    """The page's characters, whatever its charset; bytes that are none become U+FFFD.

    A byte order mark decides, then what the header or the page declares, then UTF-8 where the bytes are valid UTF-8,
    then what Firefox would guess. Two declarations are not believed: one under which more than a tenth of the special
    characters break, and a Western one of bytes that are valid UTF-8 (servers send it with every file).
    """
    mark, mark_bytes = read_bom(body)
    if mark is not None and mark_bytes is not None:
        return to_unicode(body[len(mark_bytes) :], mark)
    declared = http_content_type_encoding(content_type) or html_body_declared_encoding(body)
    if declared is None or declared == "utf-8" or declared in _WESTERN:
        try:
            return body.decode("utf-8")
        except UnicodeDecodeError:
            pass
    for encoding in filter(None, (declared, "utf-8", detect(body))):
        text = _decoded(body, encoding)
        if text is not None and text.count("\ufffd") <= _TOLERATED * (len(text) - len(text.encode("ascii", "ignore"))):
            return text
    return body.decode("cp1252", "replace")


def _decoded(body: bytes, encoding: str) -> str | None:
    if encoding.startswith(("utf-16", "utf-32")) and b"\0" not in body:
        return None
    try:
        return to_unicode(body, encoding)
    except (LookupError, UnicodeError):  # Python's codecs that are no charsets: "base64", "idna"
        return None


def parse(text: str) -> HtmlElement | None:
    """The page's tree, without comments; None where there is nothing to parse."""
    text = _NO_TEXT.sub("", text)
    if "<![CDATA[" in text and text.lstrip().startswith("<?xml"):
        text = _CDATA.sub(lambda m: m[1].replace("&", "&amp;").replace("<", "&lt;"), text)
    for _ in range(_FLATTENINGS):
        parser = HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
        try:
            root = etree.fromstring(text.encode("utf-8"), parser)
        except etree.XMLSyntaxError:
            return None
        if root is None or all(entry.type_name != "ERR_RESOURCE_LIMIT" for entry in parser.error_log):
            break
        text = _flatter(text, root)
    return root


def _flatter(text: str, root: HtmlElement) -> str:
    """The page without the tags that nest deepest: libxml2 stops reading at a depth of 2,048, in silence."""
    deepest = root
    while len(deepest):
        deepest = deepest[-1]
    nested = Counter(str(element.tag) for element in deepest.iterancestors())
    tag = nested.most_common(1)[0][0]
    return re.sub(rf"</?{re.escape(tag)}\b[^<>]*>", "" if tag in _INLINE else "<hr>", text, flags=re.IGNORECASE)


def drop_wordless(root: HtmlElement) -> None:
    """Take out what shows no words of the page's own: scripts, frames, players, form fields."""
    etree.strip_elements(root, *_WITHOUT_WORDS, with_tail=False)


def drop(root: HtmlElement, selectors: Iterable[str]) -> None:
    """Take out what the selectors match; what follows it stays."""
    for selector in selectors:
        for element in root.cssselect(selector):
            if element.getparent() is not None:
                element.drop_tree()
