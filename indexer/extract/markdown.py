"""Markdown, as people write it for site generators, to HTML."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt  # noqa: TID251
from markdown_it.token import Token  # noqa: TID251

_SHORTCODE = (
    r"\{\{[<%](?:(?!\{\{).)*?[%>]\}\}|\{%(?:(?!\{%).)*?%\}"
    # A variable only where an address begins: there it is the site's own, as in "{{ site.baseurl }}/about".
    r"""|(?:(?<=\]\()|(?<=\]: )|(?<==["']))\{\{[^{}\n]*\}\}"""
)
_SHORTCODES = re.compile(_SHORTCODE, re.DOTALL)
_OF_GENERATORS = re.compile(
    r"(?P<code>^ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}(?P=fence)|\Z)|(?<!`)(?P<ticks>`++)[^`\n]+(?P=ticks))"
    r"|(?P<highlight>\{\{< */?highlight\b[^{}]*>\}\}|\{%-? *(?:end)?highlight\b[^{}]*%\})"
    r"|(?P<footnote>^ {0,3}\[\^[^\]\s]+\]:)"
    rf"|{_SHORTCODE}",
    re.DOTALL | re.MULTILINE,
)
_DEEPEST = 100
"""Levels of lists and quotations: what lies deeper is left out, and the preset's 20 are ten levels of a list."""
_SIGNS = re.compile(r"\[\^[^\[\]\s]+\]|\{:[^{}\n]*\}")
"""Of footnotes, and attributes of what stands before them (kramdown)."""


def without_shortcodes(text: str) -> str:
    """The text without what a site generator (Hugo, Jekyll, Eleventy) puts something else in the place of."""
    return _SHORTCODES.sub("", text)


def to_html(text: str) -> str:
    """CommonMark with tables and strikethrough, as HTML, without shortcodes outside code. Footnotes become paragraphs
    where they are written, and the signs that lead to them go."""
    markdown = MarkdownIt("commonmark", {"maxNesting": _DEEPEST}).enable(["table", "strikethrough"])
    tokens = markdown.parse(_OF_GENERATORS.sub(_as_markdown, text))
    for token in tokens:
        _drop_signs(token)
    return str(markdown.renderer.render(tokens, markdown.options, {}))


def _as_markdown(found: re.Match[str]) -> str:
    if found["code"]:
        return found[0]
    if found["highlight"]:
        return "\n```\n"
    return "\n" if found["footnote"] else ""


def _drop_signs(token: Token) -> None:
    for child in token.children or ():
        if child.type == "text":
            child.content = _SIGNS.sub("", child.content)
