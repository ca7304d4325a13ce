"""Checks of `agentgym validate`: runs."""
