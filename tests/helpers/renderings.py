"""Specs whose renderings are recorded, and are applied to a real API server: what they say goes beside the smallest."""

from typing import Any

from tests.helpers.deployments import MODEL

RENDERED: dict[str, dict[str, Any]] = {
    "smallest": {},
    "large": {
        "replicas": 4,
        "model": {
            "name": "org/model-405b",
            "revision": "main",
            "tokenSecretRef": {"name": "hub", "key": "token"},
            "cache": {"perReplicaClaim": {"storageClassName": "fast", "size": "900Gi"}},
            "hub": {"endpoint": "https://hub.example", "offline": True},
        },
        "engine": {
            "version": "0.30.0",
            "image": "registry.example/vllm:v0.30.0-cu129",
            "tensorParallelSize": 8,
            "extraArgs": ["--chat-template", "{{ '$(HOME)' }}"],
            "env": [{"name": "HF_HOME", "value": "/own"}, {"name": "NCCL_DEBUG", "value": "INFO"}],
            "envFrom": [{"configMapRef": {"name": "tuning"}}],
        },
        "resources": {"requests": {"cpu": "16", "memory": "200Gi"}},
        "rollout": {"startupTimeout": "1h", "drainTimeout": "5m"},
        "pod": {
            "labels": {"team": "search", "app.kubernetes.io/name": "own"},
            "annotations": {"note": "x"},
            "nodeSelector": {"pool": "h100"},
            "tolerations": [{"key": "gpu", "operator": "Exists"}],
            "priorityClassName": "serving",
            "serviceAccountName": "reader",
            "imagePullSecrets": [{"name": "pull"}],
            "sharedMemorySize": "32Gi",
            "securityContext": {"fsGroup": 1000},
            "overrides": {
                "spec": {
                    "dnsPolicy": "Default",
                    "containers": [
                        {"name": "engine", "readinessProbe": {"httpGet": {"path": "/v1/models"}, "periodSeconds": 9}},
                        {"name": "sidecar", "image": "sidecar:1"},
                    ],
                }
            },
        },
    },
    "cpu": {
        "model": {"name": "/models/tiny", "cache": {"emptyDir": {"sizeLimit": "10Gi"}}},
        "engine": {
            "version": "0.17.1",
            "image": "own/simulator:1",
            "command": ["vllm-simulator", "serve"],
            "accelerator": {"count": 0},
        },
    },
    "shared-cache": {
        "model": {
            "name": MODEL,
            "cache": {"persistentVolumeClaim": {"claimName": "models"}},
            "hub": {"source": "ModelScope"},
            "tokenSecretRef": {"name": "hub"},
        },
        "pod": {
            "volumes": [{"name": "tmp", "persistentVolumeClaim": {"claimName": "shared"}}],
            "volumeMounts": [{"name": "tmp", "mountPath": "/tmp/"}],
        },
    },
}
