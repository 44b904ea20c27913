"""The configuration of a run: its sources, the reference of its keys and presets, templates of it."""

from flashwatt.config.config import Config

__all__ = ["Config"]
