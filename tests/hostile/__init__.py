"""A domain whose tools do what a tool must not: what a container has to stand."""
