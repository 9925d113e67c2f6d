"""The command line: reads the configuration, builds the parts, prints, and sets the exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from indexer.errors import IndexerError


def main(arguments: Sequence[str] | None = None) -> None:
    """Run `indexer` with the given arguments, the process's own where there are none; ends the process."""
    from indexer.cli import suggestions  # noqa: F401 - its commands are the app's
    from indexer.cli.commands import app

    try:
        app(arguments)
    except IndexerError as error:
        print(f"indexer: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("indexer: interrupted; the next sync goes on from here", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output has seen enough (`| head`); nothing more may be written, not even at exit.
        sys.stdout = None
        sys.exit(0)
