"""Checks of `agentgym validate`: process."""
