"""The environments, one folder a domain."""
