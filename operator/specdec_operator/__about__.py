"""The one version number: wheel, chart, images and CRD labels are built from it."""

__version__ = "0.1.0"
