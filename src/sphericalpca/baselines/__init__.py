"""Algorithms of the paper's baselines, one per file; their estimators are in `estimators`."""

__all__: list[str] = []
