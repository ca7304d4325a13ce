"""Checks of `agentgym validate`: interface."""
