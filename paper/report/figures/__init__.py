"""What each picture shows: drawn once, used on the page and as files."""

__all__: list[str] = []
