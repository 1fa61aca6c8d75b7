"""CreateAcls, DescribeAcls and DeleteAcls: what a user is allowed to do (KIP-140, KIP-290)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.api_results import ErrorResult
from harness.wire.codec.request_builder import Value, request
from harness.wire.codec.response_fields import ResponseFields

_ALLOW = 3  # Kafka's AclPermissionType
_ANY_HOST = "*"


class Resource(IntEnum):
    """Kafka's ``ResourceType``."""

    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5


class AclOperation(IntEnum):
    """Kafka's ``AclOperation``."""

    READ = 3
    WRITE = 4
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    IDEMPOTENT_WRITE = 12


class Pattern(IntEnum):
    """Kafka's ``PatternType``: the resource of that name, or all whose name begins so."""

    LITERAL = 3
    PREFIXED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Acl:
    """The principal (``User:alice``) may do ``operation`` on a resource."""

    principal: str
    resource: Resource
    name: str
    operation: AclOperation
    pattern: Pattern = Pattern.LITERAL

    def fields(self, *, filtering: bool) -> Mapping[str, Value]:
        """In a request; a filter for this very permission has other names for the same fields."""
        end = "_filter" if filtering else ""
        return {
            f"resource_type{end}": self.resource,
            f"resource_name{end}": self.name,
            f"pattern_type{end}" if filtering else "resource_pattern_type": self.pattern,
            f"principal{end}": self.principal,
            f"host{end}": _ANY_HOST,
            "operation": self.operation,
            "permission_type": _ALLOW,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateAcls:
    """Allow these."""

    api: ClassVar[str] = "CreateAcls"
    acls: tuple[Acl, ...]

    def build(self, version: int) -> RequestPayload:
        """v1 and above have pattern types."""
        return request(self.api, version, creations=[acl.fields(filtering=False) for acl in self.acls])

    def read(self, response: ResponsePayload) -> ErrorResult:
        """One result each."""
        return ErrorResult.of(*ResponseFields(response).parts("results"))


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteAcls:
    """Allow these no more."""

    api: ClassVar[str] = "DeleteAcls"
    acls: tuple[Acl, ...]

    def build(self, version: int) -> RequestPayload:
        """A filter for each."""
        return request(self.api, version, filters=[acl.fields(filtering=True) for acl in self.acls])

    def read(self, response: ResponsePayload) -> ErrorResult:
        """Of the filters and of what they found."""
        results = ResponseFields(response).parts("filter_results")
        found = [acl for result in results for acl in result.parts("matching_acls")]
        return ErrorResult.of(*results, *found)


@dataclass(frozen=True, slots=True, kw_only=True)
class AclCount:
    """``found`` is how many permissions the broker has that are as was asked."""

    error: int
    error_message: str | None
    found: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeAcls:
    """Whether the broker's authorizer has this one: each broker answers for itself."""

    api: ClassVar[str] = "DescribeAcls"
    acl: Acl

    def build(self, version: int) -> RequestPayload:
        """One filter a request."""
        return request(self.api, version, **self.acl.fields(filtering=True))

    def read(self, response: ResponsePayload) -> AclCount:
        """All permissions of all resources that were found."""
        top = ResponseFields(response)
        found = sum(len(resource.parts("acls")) for resource in top.parts("resources"))
        return AclCount(error=top.error(), error_message=top.message(), found=found)
