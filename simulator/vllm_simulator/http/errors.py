"""Errors as vLLM answers them."""

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

_TYPES = {400: "BadRequestError", 401: "Unauthorized", 404: "NotFoundError"}


class ApiError(Exception):
    """A request is answered with an error: status, a sentence, and the field that is wrong where there is one."""

    def __init__(self, status: int, message: str, *, param: str | None = None, kind: str = "") -> None:
        """Keep the parts of the answer; `kind` is vLLM's name for the error, by default that of the status."""
        super().__init__(message)
        self.status, self.param = status, param
        self.kind = kind or _TYPES.get(status, "InternalServerError")

    def body(self) -> dict[str, object]:
        """The JSON of the answer, also of an event in a stream."""
        return {"error": {"message": str(self), "type": self.kind, "param": self.param, "code": self.status}}


def wrong_value(message: str, *, param: str, value: object = None) -> ApiError:
    """A value that the server cannot take."""
    shown = f", value={value}" if value is not None else ""
    return ApiError(400, f"{message} (parameter={param}{shown})", param=param)


def wrong_shape(detail: str, *, param: str | None = None) -> ApiError:
    """A body that is not of the right shape."""
    return ApiError(400, f"1 validation error:\n  {detail}", param=param, kind="Bad Request")


def engine_dead() -> ApiError:
    """What clients of an engine that went away are told."""
    return ApiError(500, "EngineCore encountered an issue. See stack trace (above) for the root cause.")


def engine_draining() -> ApiError:
    """What a request gets that arrives while the engine drains."""
    return ApiError(500, "cannot schedule new futures after shutdown")


async def handle_api_error(_: Request, error: Exception) -> Response:
    """Exception handler of the application for `ApiError`."""
    if not isinstance(error, ApiError):
        raise error
    return JSONResponse(error.body(), status_code=error.status)


async def handle_http_error(_: Request, error: Exception) -> Response:
    """Exception handler for what the router refuses: no such path, no such method."""
    if not isinstance(error, HTTPException):
        raise error
    return JSONResponse({"detail": error.detail}, status_code=error.status_code, headers=error.headers)
