"""The refund desk of an online shop: `agentgym.envs.refund.env.RefundEnv`."""
