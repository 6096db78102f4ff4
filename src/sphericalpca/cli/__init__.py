"""Commands: they parse, call and print; nothing is computed here."""

__all__: list[str] = []
