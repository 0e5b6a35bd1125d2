"""Tools for building and testing: the test bed, the local images, generators."""
