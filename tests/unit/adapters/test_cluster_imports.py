"""What importing the cluster adapter costs."""

import subprocess
import sys

PROGRAM = """
import sys
import specdec_operator.adapters.cluster
typed = ("kubernetes.aio.client.models.", "kubernetes.aio.client.api.")
print(*[name for name in sys.modules if name.startswith(typed)])
"""


def test_the_typed_models_are_never_loaded() -> None:
    """Objects are dictionaries, so the client's generated models (30 MB, strict on what they read) stay on disk."""
    loaded = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True).stdout.split()

    assert loaded == []
