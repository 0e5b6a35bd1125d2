"""PURE: the Kubernetes objects to apply."""

from specdec_operator.resources.budget import build_budget
from specdec_operator.resources.ownership import owner_reference, selector, serving_selector, spec_hash
from specdec_operator.resources.service import build_service
from specdec_operator.resources.stateful_set import build_stateful_set

__all__ = [
    "build_budget",
    "build_service",
    "build_stateful_set",
    "owner_reference",
    "selector",
    "serving_selector",
    "spec_hash",
]
