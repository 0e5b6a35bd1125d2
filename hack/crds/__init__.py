"""Generator of the CustomResourceDefinitions."""
