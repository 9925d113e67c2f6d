"""The text of a new config.yaml, which is also the documentation of every key."""

from __future__ import annotations

from pathlib import Path

import yaml  # noqa: TID251

from indexer.config.settings import USER_AGENT, guessed_base, is_address
from indexer.errors import ConfigError


def starter(site: str) -> str:
    """A configuration for a site's address or folder, with every key explained and every default shown.

    Raises ConfigError where `site` is neither.
    """
    if is_address(site):
        return _written(site, "# base_url: null")
    folder = Path(site)
    if not folder.is_dir():
        raise ConfigError(f"{site} is neither a folder that exists nor an address that begins with http:// or https://")
    return _written(site, _line("base_url", guessed_base(folder)))


def _written(site: str, base_url: str) -> str:
    return _STARTER.format(site=_line("site", site), base_url=base_url, user_agent=USER_AGENT)


def _line(key: str, value: str) -> str:
    """One line of YAML, in quotes where it needs them."""
    return str(yaml.safe_dump({key: value}, allow_unicode=True, width=10_000)).strip()


_STARTER = """\
# The site: its address, or the folder it is built into. All other keys have defaults, shown here behind a "#".
# Any value may be taken from the environment: ${{NAME}}, or ${{NAME:-default}}.
{site}

# Where a folder or a staging host stands for another address: the address its links and canonicals name.
{base_url}
# Further names of the same host; the one with or without www. needs no mention.
# hosts: []

# Where pages are named. The sitemaps in robots.txt and /sitemap.xml are always read; a site without one is crawled.
# discover:
#   sitemaps: []                  # addresses of further sitemaps
#   feeds: []                     # addresses of RSS or Atom feeds
#   urls: null                    # a file with an address a line
#   crawl: false                  # follow the links from the home page, too
#   include: []                   # only pages that match one of these, such as /blog/*
#   exclude: []                   # no page that matches one of these

# fetch:
#   user_agent: "{user_agent}"
#   concurrency: 8                # requests at a time
#   delay: 0.0                    # seconds between requests; robots.txt may ask for more
#   timeout: 20                   # seconds for a whole answer
#   max_bytes: 5000000            # larger pages are skipped
#   headers: {{}}                   # such as {{Authorization: "Bearer ${{TOKEN}}"}}
#   obey_robots: true

# extract:
#   content: null                 # CSS selector of a page's text, where it is not found by itself
#   remove: []                    # CSS selectors of what is never text
#   min_words: 30                 # pages with less text are known, not indexed

# embed:
#   model: all-MiniLM-L6-v2       # or a folder with a sentence-transformers model, or its name on the hub
#   batch: 8                      # passages at a time

# neighbours:
#   keep: 20                      # neighbours a page
#   min_similarity: null          # null: the model's own threshold

# The rules for suggested links.
# links:
#   per_page: 5                   # suggestions from one page
#   per_target: 10                # suggestions to one page
#   per_paragraph: 1              # suggestions in one paragraph
#   both_ways: false              # whether two pages may be told to link to each other
#   max_density: 3.0              # content links per 100 words, existing ones counted; null: any
#   min_score: 0.12               # how likely a person would set the link, 0 to 1
#   min_words: 60                 # pages with less text get no suggestions to link from
#   never_from: []                # pages, such as /legal/*
#   never_to: []
#   never_anchor: []              # words
#   always_to: []                 # pages that look like lists, archives or forms, and are none
#   priority: []                  # pages to link to first
#   phrases: {{}}                   # own phrases for a page: {{/pricing/: ["price list", "what it costs"]}}
#   ignore_orphans: []            # pages that need no links

# store:
#   state: data/indexer.db
#   vectors: data/vectors         # a folder, or a Qdrant server: http://localhost:6333
#   api_key: null                 # the server's
#   timeout: 10                   # seconds the server may take for an answer

# Pages that would leave the index in one run are held back where there are more than the larger of these two.
# safety:
#   max_removed: 5
#   max_removed_share: 0.2
#   gone_after: 3                 # looks at a 404 before its page is forgotten

# daemon:
#   every: 1h                     # or 30m, 1d, or a cron line
#   listen: 127.0.0.1:8080
#   token: null
#   webhooks: []
"""
