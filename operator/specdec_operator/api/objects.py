"""The two kinds as whole objects, parsed from what the API server gives."""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from specdec_operator.api.profile import SpecDecProfileSpec, SpecDecProfileStatus
from specdec_operator.api.spec import SpecDecDeploymentSpec
from specdec_operator.api.status import SpecDecDeploymentStatus


class Metadata(BaseModel):
    """The part of `metadata` that the operator reads; the rest is ignored."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, extra="ignore")

    name: str
    namespace: str = "default"
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    annotations: dict[str, str] = Field(default_factory=dict)
    deletion_timestamp: str | None = None


class _Object(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, extra="ignore")

    metadata: Metadata

    @classmethod
    def parse(cls, body: Mapping[str, Any]) -> Self:
        """Read an object as the API server or a file gives it.

        Raises:
            pydantic.ValidationError: naming each field that does not fit.
        """
        return cls.model_validate(dict(body))


class SpecDecDeployment(_Object):
    """One deployment of vLLM engines."""

    spec: SpecDecDeploymentSpec
    status: Annotated[SpecDecDeploymentStatus, Field(default_factory=SpecDecDeploymentStatus)]


class SpecDecProfile(_Object):
    """Measured curves of one model on one kind of hardware."""

    spec: SpecDecProfileSpec
    status: Annotated[SpecDecProfileStatus, Field(default_factory=SpecDecProfileStatus)]
