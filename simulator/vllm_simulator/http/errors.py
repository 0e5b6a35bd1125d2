"""Errors as vLLM answers them."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response


class ApiError(Exception):
    """A request is answered with an error: status, a sentence, and the field that is wrong where there is one."""

    def __init__(self, status: int, message: str, *, param: str | None = None) -> None:
        """Keep the parts of the answer."""
        super().__init__(message)
        self.status, self.param = status, param


_TYPES = {400: "BadRequestError", 401: "Unauthorized", 404: "NotFoundError", 415: "BadRequestError"}


def error_response(error: ApiError) -> Response:
    """The JSON answer of an error."""
    kind = _TYPES.get(error.status, "InternalServerError")
    body = {"message": str(error), "type": kind, "param": error.param, "code": error.status}
    return JSONResponse({"error": body}, status_code=error.status)


async def handle_api_error(_: Request, error: Exception) -> Response:
    """Exception handler of the application."""
    if not isinstance(error, ApiError):
        raise error
    return error_response(error)
