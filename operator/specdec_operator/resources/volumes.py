"""Volumes of an engine pod: its own annotations and labels as files, shared memory, and caches."""

from dataclasses import dataclass
from typing import Any, Final

from specdec_operator.api.names import CONFIG_ANNOTATION, OWN_VOLUME_PREFIX
from specdec_operator.api.spec import EmptyDirCache, ModelCache, SpecDecDeploymentSpec
from specdec_operator.engine.owned import (
    CACHE_DIRECTORY,
    COMPILE_DIRECTORY,
    INFO_DIRECTORY,
    TEMPORARY_DIRECTORY,
)
from specdec_operator.resources.probes import CONFIG_FILE, LABELS_FILE

INFO_VOLUME: Final = f"{OWN_VOLUME_PREFIX}info"
CACHE_VOLUME: Final = f"{OWN_VOLUME_PREFIX}cache"
COMPILE_VOLUME: Final = f"{OWN_VOLUME_PREFIX}compile"
SHARED_MEMORY_VOLUME: Final = f"{OWN_VOLUME_PREFIX}shm"
TEMPORARY_VOLUME: Final = f"{OWN_VOLUME_PREFIX}tmp"
SHARED_MEMORY_DIRECTORY: Final = "/dev/shm"  # noqa: S108 - where NCCL and vLLM look for it


@dataclass(frozen=True, slots=True)
class Volumes:
    """What the pod and the engine container get, and the claim template of the StatefulSet, if any."""

    volumes: tuple[dict[str, Any], ...]
    mounts: tuple[dict[str, Any], ...]
    environment: dict[str, str]
    claim_templates: tuple[dict[str, Any], ...] = ()


def build_volumes(spec: SpecDecDeploymentSpec) -> Volumes:
    """Build the operator's own volumes; the user's follow in `pod.volumes` and `pod.volumeMounts`."""
    cache = spec.model.cache or ModelCache(empty_dir=EmptyDirCache())
    volumes: list[dict[str, Any]] = [_info_volume()]
    mounts: list[dict[str, Any]] = [{"name": INFO_VOLUME, "mountPath": INFO_DIRECTORY, "readOnly": True}]
    mounts.append({"name": CACHE_VOLUME, "mountPath": CACHE_DIRECTORY})
    claims: tuple[dict[str, Any], ...] = ()
    if cache.per_replica_claim is not None:
        claims = (_claim_template(cache.per_replica_claim.size, cache.per_replica_claim.storage_class_name),)
    else:
        volumes.append({"name": CACHE_VOLUME, **_cache_source(cache)})
    compile_directory = CACHE_DIRECTORY
    if cache.persistent_volume_claim is not None:
        compile_directory = COMPILE_DIRECTORY
        volumes.append({"name": COMPILE_VOLUME, "emptyDir": {}})
        mounts.append({"name": COMPILE_VOLUME, "mountPath": COMPILE_DIRECTORY})
    environment = _cache_environment(compile_directory)
    for volume, mount, variables in (_shared_memory(spec), _temporary(spec)):
        volumes.extend(volume)
        mounts.extend(mount)
        environment |= variables
    return Volumes(tuple(volumes), tuple(mounts), environment, claims)


def _info_volume() -> dict[str, Any]:
    annotation = f"metadata.annotations['{CONFIG_ANNOTATION}']"
    items = [
        {"path": CONFIG_FILE, "fieldRef": {"apiVersion": "v1", "fieldPath": annotation}},
        {"path": LABELS_FILE, "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.labels"}},
    ]
    return {"name": INFO_VOLUME, "downwardAPI": {"items": items}}


def _cache_source(cache: ModelCache) -> dict[str, Any]:
    if cache.persistent_volume_claim is not None:
        return {"persistentVolumeClaim": {"claimName": cache.persistent_volume_claim.claim_name}}
    limit = cache.empty_dir.size_limit if cache.empty_dir is not None else None
    return {"emptyDir": {} if limit is None else {"sizeLimit": limit}}


def _claim_template(size: str, storage_class: str | None) -> dict[str, Any]:
    claim: dict[str, Any] = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    if storage_class is not None:
        claim["storageClassName"] = storage_class
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": CACHE_VOLUME},
        "spec": claim,
    }


def _cache_environment(compile_directory: str) -> dict[str, str]:
    """Weights go to the cache, compiled code to a volume that only this pod writes: a shared claim may be read-only."""
    return {
        "HF_HOME": f"{compile_directory}/huggingface",
        "HF_HUB_CACHE": f"{CACHE_DIRECTORY}/huggingface/hub",
        "MODELSCOPE_CACHE": f"{CACHE_DIRECTORY}/modelscope",
        "VLLM_CACHE_ROOT": f"{compile_directory}/vllm",
        "TRITON_CACHE_DIR": f"{compile_directory}/triton",
        "TORCHINDUCTOR_CACHE_DIR": f"{compile_directory}/torchinductor",
        "FLASHINFER_WORKSPACE_BASE": f"{compile_directory}/flashinfer",
    }


_Part = tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, str]]


def _shared_memory(spec: SpecDecDeploymentSpec) -> _Part:
    """More than one process shares tensors through /dev/shm, and a container's default is 64 MiB."""
    engine = spec.engine
    processes = engine.tensor_parallel_size * engine.pipeline_parallel_size * engine.data_parallel_size
    size = spec.pod.shared_memory_size
    if (processes == 1 and size is None) or _mounted(spec, SHARED_MEMORY_DIRECTORY):
        return [], [], {}
    source: dict[str, Any] = {"medium": "Memory"}
    if size is not None:
        source["sizeLimit"] = size
    volume = {"name": SHARED_MEMORY_VOLUME, "emptyDir": source}
    return [volume], [{"name": SHARED_MEMORY_VOLUME, "mountPath": SHARED_MEMORY_DIRECTORY}], {}


def _temporary(spec: SpecDecDeploymentSpec) -> _Part:
    """A user's volume on /tmp may be on the network, where the metrics files of several servers do not work.

    vLLM makes a new directory for them at each start under TMPDIR. PROMETHEUS_MULTIPROC_DIR itself stays unset: a
    fixed directory would survive the restart of a switch, and with it the counters of the method that was left.
    """
    if not _mounted(spec, "/tmp"):  # noqa: S108 - a mount path inside the container
        return [], [], {}
    volume: dict[str, Any] = {"name": TEMPORARY_VOLUME, "emptyDir": {}}
    mount = {"name": TEMPORARY_VOLUME, "mountPath": TEMPORARY_DIRECTORY}
    return [volume], [mount], {"TMPDIR": TEMPORARY_DIRECTORY}


def _mounted(spec: SpecDecDeploymentSpec, path: str) -> bool:
    return any(str(mount.get("mountPath", "")).rstrip("/") == path for mount in spec.pod.volume_mounts)
