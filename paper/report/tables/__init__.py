"""What stands in each table, apart from how it is written."""

__all__: list[str] = []
