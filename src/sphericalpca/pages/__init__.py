"""Shared parts of HTML pages."""

__all__: list[str] = []
