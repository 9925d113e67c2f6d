"""config.yaml and the environment, read once into one frozen Config; all faults in one message."""

from indexer.config.reading import load
from indexer.config.settings import Config
from indexer.config.template import starter

__all__ = ["Config", "load", "starter"]
