"""The commands of the reproduction: they parse, call and print."""

__all__: list[str] = []
