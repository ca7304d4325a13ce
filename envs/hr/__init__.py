"""The HR API: an enterprise API that the agent has never seen."""
