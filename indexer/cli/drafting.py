"""Advice on a text that is not published yet, from the configuration and the state database."""

from __future__ import annotations

import sys
from pathlib import Path

from indexer.cli.building import parts_of
from indexer.cli.output import Silence
from indexer.config import Config
from indexer.errors import UsageError
from indexer.records import Advice
from indexer.state.writing import snapshot
from indexer.sync.drafting import draft


def draft_text(file: str) -> str:
    """The text of the file, or of stdin for "-". Raises UsageError where it cannot be read as text."""
    try:
        body = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return body.decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read the draft {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"the draft {file} is not text in UTF-8: save it as such and try again") from error


def advice(config: Config, text: str, name: str) -> Advice:
    """What the text should link to, and which pages should link to it."""
    with snapshot(config.store.state) as state:
        return draft(parts_of(config, Silence()), state, text, name)
