"""Checks of `agentgym validate`: statistics."""
