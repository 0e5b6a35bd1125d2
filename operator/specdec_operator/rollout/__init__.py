"""PURE: the step planner for switches and rollouts."""
