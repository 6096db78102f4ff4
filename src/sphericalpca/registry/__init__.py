"""What there is: solvers and file formats, each fact in one place, nothing heavy imported."""

__all__: list[str] = []
