"""Row sources on disk, one module for each format."""

from sphericalpca.rows.sources.opening import open_rows

__all__ = ["open_rows"]
