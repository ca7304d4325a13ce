"""Checks of `agentgym validate`: secrecy."""
