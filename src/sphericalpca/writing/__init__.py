"""Vectors to files, a block at a time: whole or not at all."""

from sphericalpca.writing.carried import Carried, carried_columns
from sphericalpca.writing.writers import FORMATS, open_writer

__all__ = ["FORMATS", "Carried", "carried_columns", "open_writer"]
