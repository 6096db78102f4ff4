"""Texts in groups by angle, and the page that shows them."""

__all__: list[str] = []
