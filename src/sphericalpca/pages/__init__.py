"""What HTML pages share; it knows none of them."""

__all__: list[str] = []
