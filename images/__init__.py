"""Container images of the suite: Dockerfiles and what builds them, shipped as package data."""

__all__: list[str] = []
