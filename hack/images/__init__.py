"""Images for the test bed, without a registry, a daemon or root: `python -m hack.images` builds what has changed."""
