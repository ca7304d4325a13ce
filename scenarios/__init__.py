"""Curated scenarios as YAML, one folder a domain, shipped as package data."""

__all__: list[str] = []
