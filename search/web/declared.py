"""What holds for every path of the API: how it reaches the service, and with which errors it may answer?"""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from search.web.answers import Refusal
from search.web.service import Service

_WHEN = {
    400: "Asks for what can't be.",
    401: "The server wants a token.",
    403: "A page of another server asks, and may not.",
    404: "There is no such icon, or it has no such picture.",
    408: "What is sent came too slowly.",
    410: "The icon's file has gone or changed since it was indexed.",
    413: "What is sent, or asked for, is too large.",
    421: "The server does not answer to this name.",
    422: "A parameter is not as it should be, or a picture is none.",
    500: "Something went wrong; the server's log says what.",
    503: "Too busy; Retry-After says when to come back.",
    504: "No answer in time.",
}
_ALWAYS = (400, 401, 403, 421, 422, 500, 503, 504)


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Declare the errors of a path beside those that every path has."""
    return {status: {"model": Refusal, "description": _WHEN[status]} for status in statuses}


def new_router(*, is_open: bool = False) -> APIRouter:
    """A router whose paths declare what any of them may answer; an open one wants no token."""
    return APIRouter(responses=errors(*(status for status in _ALWAYS if not (is_open and status == 401))))


def service_of(request: Request) -> Service:
    """The service that the app was made with."""
    service: Service = request.app.state.service
    return service


Served = Annotated[Service, Depends(service_of)]


def as_json(written: bytes, status: int = 200) -> Response:
    """Send what was written as its model says."""
    return Response(written, status, media_type="application/json")
