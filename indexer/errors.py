"""Everything that can go wrong without being expected. Each message says what to do next.

IndexerError
├── UsageError            wrong call or configuration                       exit 2
│   ├── ConfigError       faults in config.yaml, all of them
│   ├── UnknownPage       a URL the index does not hold, with the nearest it does
│   └── UnknownSuggestion no suggestion has this id
├── SiteUnreachable       the site's host does not resolve, refuses, or has a bad certificate
├── ModelUnavailable      the embedding model cannot be found or is not the published one
├── StoreError
│   ├── StoreUnavailable  the vector store is away, or another process holds it
│   └── StoreMismatch     the vector store belongs to another state database, or holds vectors of another size
└── StateError
    └── StateVersion      the database was written by a newer program, or is none of ours
"""


class IndexerError(Exception):
    """The root: catch this to catch everything `indexer` raises on purpose."""

    exit_code = 1


class UsageError(IndexerError):
    """The call or the configuration is wrong; nothing was done."""

    exit_code = 2


class ConfigError(UsageError):
    """config.yaml has faults; the message lists every one with its line and what is allowed."""


class UnknownPage(UsageError):
    """A URL that the index does not hold; the message names the nearest ones it does."""


class UnknownSuggestion(UsageError):
    """No suggestion has this id."""


class SiteUnreachable(IndexerError):
    """The site's host does not resolve, refuses connections, or shows a bad certificate."""


class ModelUnavailable(IndexerError):
    """The embedding model cannot be found, or its weights are not the published ones."""


class StoreError(IndexerError):
    """The vector store failed."""


class StoreUnavailable(StoreError):
    """The vector store does not answer, or another process holds it."""


class StoreMismatch(StoreError):
    """The vector store was filled by another state database, or with vectors of another size."""


class StateError(IndexerError):
    """The state database cannot be used."""


class StateVersion(StateError):
    """The state database has a schema this program does not know."""
