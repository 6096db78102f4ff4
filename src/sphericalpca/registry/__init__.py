"""What there is to choose from: one import-light record for each name."""

__all__: list[str] = []
