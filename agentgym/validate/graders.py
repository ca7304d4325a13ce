"""Checks of `agentgym validate`: graders."""
