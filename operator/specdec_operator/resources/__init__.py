"""PURE: the objects to apply for one SpecDecDeployment."""
