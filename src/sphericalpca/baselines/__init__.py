"""Algorithms of the paper's rivals, one per file; their estimators are in `estimators`."""

__all__: list[str] = []
