"""Reference agents, one runnable file each; see `agentgym.agent.Agent` for what a runner needs of one."""
