"""How many accelerators of what kind a replica takes."""

from specdec_operator.api.spec import Accelerator, SpecDecDeploymentSpec


def accelerator_name(spec: SpecDecDeploymentSpec) -> str:
    """Return the name of the extended resource that a replica takes."""
    return (spec.engine.accelerator or Accelerator()).resource_name


def accelerator_count(spec: SpecDecDeploymentSpec) -> int:
    """Return how many accelerators a replica takes: as given, else one for each parallel process."""
    engine = spec.engine
    if engine.accelerator is not None and engine.accelerator.count is not None:
        return engine.accelerator.count
    return engine.tensor_parallel_size * engine.pipeline_parallel_size * engine.data_parallel_size
