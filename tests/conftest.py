"""What holds for all tests."""

from hypothesis import settings

# How long an example takes depends on what else the machine does; pytest-timeout bounds the whole test.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")
