"""The contents of the tables, independent of their format."""

__all__: list[str] = []
