"""One name for every page: the normal form of a URL, which URLs belong to the site, and a page's id.

The normal form follows RFC 3986, section 6.2.2 and 6.2.3 (case, percent-encoding, dot segments, default ports), the
way browsers read an address (WHATWG URL: blanks trimmed, backslashes as slashes, non-ASCII encoded as UTF-8), and
what makes no other page: fragments, index.html, and parameters that only track where a visitor came from.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

_PAGE_NAMESPACE = uuid.UUID("7c1f2e8e-6f0a-5a0b-9d53-0d1f5d9b8a11")
_PORTS = {"http": 80, "https": 443}
_TRACKING = re.compile(
    r"utm_\w+|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|ttclid|igshid|mc_[ce]id|_hs(enc|mi)|mkt_tok"
    r"|_ga|_gl|vero_id|oly_(enc|anon)_id|piwik_\w+|pk_(campaign|kwd|source|medium)|mtm_\w+|wickedid|srsltid"
)
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_INDEX = re.compile(r"/index\.html?$", re.IGNORECASE)
_CONTROL = re.compile(r"[\t\r\n]")


@dataclass(frozen=True, slots=True)
class Site:
    """Which URLs are pages of the site, and what they are called.

    `base` is the public address, ending in "/": `https://www.example.com/` or `https://example.com/docs/`, whose
    pages all lie below it. `hosts` (host or host:port, lower case) are further names of the same host; the other of
    example.com and www.example.com is one without being named. `origin` is where the pages are asked for when that
    is not `base`: a staging host, or a test server.
    """

    base: str
    hosts: frozenset[str] = frozenset()
    origin: str | None = None

    def page(self, href: str, on: str | None = None) -> str | None:
        """The normal form of an address met on the page `on`, or None where it is no page of this site."""
        url = absolute(href, on or self.base)
        return None if url is None else _inside(self, url)

    def serves(self, address: str) -> bool:
        """Whether an address is on one of the site's hosts, be it a page of the site or not."""
        return _is_own(self, urlsplit(address).netloc.lower())

    def address(self, url: str) -> str:
        """Where to ask for a page of this site."""
        if self.origin is None:
            return url
        return self.origin + url[len(self.base) :]


def make_site(base: str, hosts: Iterable[str] = (), origin: str | None = None) -> Site:
    """A Site from addresses as people write them. Raises ValueError where `base` is no http(s) address."""
    url = absolute(base, base)
    if url is None:
        raise ValueError(f"{base!r} is not an http:// or https:// address")
    scheme, host, path, _, _ = urlsplit(url)
    folder, _, last = path.rpartition("/")
    root = urlunsplit((scheme, host, f"{folder}/{last}/" if last and "." not in last else f"{folder}/", "", ""))
    names = {_host(name) for name in hosts}
    if origin is not None:
        origin = (absolute(origin, origin) or "").rstrip("/") + "/"
        names.add(urlsplit(origin).netloc)
    return Site(root, frozenset(names - {host}), None if origin == root else origin)


@lru_cache(maxsize=65536)
def absolute(href: str, on: str) -> str | None:
    """The normal form of any http(s) address met on the page `on`, without fragment; None for every other scheme."""
    try:
        scheme, netloc, path, query, _ = urlsplit(urljoin(on, _trimmed(href).replace("\\", "/")))
        if scheme not in _PORTS:
            return None
        host = _host(netloc, _PORTS[scheme])
        # Decoded first: "%2e%2e" is a dot segment, and "%75tm_source" a tracking parameter.
        path = _without_dots(_encode(path or "/", "/:@!$&'()*+,;="))
        query = _without_tracking(_encode(query, "/?:@!$&'()*+,;="))
    except ValueError:
        return None
    return urlunsplit((scheme, host, _INDEX.sub("/", path), query, "")) if host and host[0] != ":" else None


def joined(href: str, on: str) -> str | None:
    """An http(s) address as it is written, made whole: for what is no page and has no normal form; else None."""
    try:
        address = urljoin(on, _trimmed(href))
        parts = urlsplit(address)
        usable = parts.scheme in _PORTS and parts.hostname and parts.port != 0
    except ValueError:
        return None
    return address if usable else None


def fragment(href: str) -> str:
    """What stands behind the "#" of an address, decoded by nobody."""
    return href.partition("#")[2].strip()


def page_id(url: str) -> str:
    """The page's id in the vector store: the same for the same normal form, on every machine."""
    return str(uuid.uuid5(_PAGE_NAMESPACE, url))


def twins(url: str) -> tuple[str, ...]:
    """Other spellings under which servers tend to know the same page, likeliest first: slash, .html."""
    scheme, host, path, query, _ = urlsplit(url)
    if query or path == "/":
        return ()
    stem = re.sub(r"\.html?$", "", path.rstrip("/"))
    spellings = (stem, stem + "/", stem + ".html", stem + ".htm")
    return tuple(urlunsplit((scheme, host, p, "", "")) for p in spellings if p != path)


def _inside(site: Site, url: str) -> str | None:
    if site.origin is not None and url.startswith(site.origin) and not url.startswith(site.base):
        return site.base + url[len(site.origin) :]
    _, host, path, query, _ = urlsplit(url)
    own_scheme, own_host, own_path, _, _ = urlsplit(site.base)
    if path + "/" == own_path:
        path = own_path
    if not _is_own(site, host) or not path.startswith(own_path):
        return None
    return urlunsplit((own_scheme, own_host, path, query, ""))


def _is_own(site: Site, host: str) -> bool:
    own = urlsplit(site.base).netloc
    return host == own or host in site.hosts or host.removeprefix("www.") == own.removeprefix("www.")


def _trimmed(href: str) -> str:
    return _CONTROL.sub("", href.strip())


def _host(netloc: str, default_port: int | None = None) -> str:
    netloc = netloc.rpartition("@")[2].lower()
    name, colon, port = netloc.rpartition(":") if re.search(r":\d*$", netloc) else (netloc, "", "")
    if not name.isascii():
        name = name.encode("idna").decode()
    return name.rstrip(".") + (f":{int(port)}" if colon and port and int(port) != default_port else "")


def _without_dots(path: str) -> str:
    """Dot segments that urljoin left in place, as in an absolute address (RFC 3986, 5.2.4)."""
    if "/." not in path:
        return path
    kept: list[str] = []
    parts = path.split("/")
    for part in parts[1:]:
        if part == "..":
            kept[-1:] = []
        elif part != ".":
            kept.append(part)
    return "/" + "/".join(kept) + ("/" if parts[-1] in (".", "..") and kept else "")


def _without_tracking(query: str) -> str:
    if not query:
        return ""
    return "&".join(p for p in query.split("&") if p and not _TRACKING.fullmatch(p.partition("=")[0].lower()))


def _encode(text: str, safe: str) -> str:
    """Percent-encode what has to be, decode what need not be; escapes in upper case; a bare "%" becomes %25."""
    if text.isascii() and "%" not in text:
        return quote(text, safe=safe + "~")

    def plain(escape: re.Match[str]) -> str:
        character = chr(int(escape[1], 16))
        return character if character in _UNRESERVED else escape[0].upper()

    parts = _ESCAPE.split(text)
    escapes = [plain(m) for m in _ESCAPE.finditer(text)]
    pieces = [quote(part, safe=safe + "~") for part in parts[::2]]
    return "".join(piece + escape for piece, escape in zip(pieces, [*escapes, ""], strict=True))
