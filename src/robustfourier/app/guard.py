"""Who may ask: the token, the Host, the Origin; and what a page of ours may load.

A page of another site can make the user's browser send requests to this server. It cannot read our
token, which is in the address that was printed; a name that it points to our address is no Host of
ours; and its Origin is its own. All three are checked on every request, before anything is read.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse

Scope: TypeAlias = dict[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Any]]
Send: TypeAlias = Callable[[Any], Awaitable[None]]

#: What the app's own pages may load: files of this server, and no script inside of a page.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; frame-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'"
)


class Guard:
    """Middleware that refuses what does not come from our own page.

    Parameters
    ----------
    app : ASGI application
    token : str
        The secret of the address. A first request that has it is given a cookie instead.
    hosts : frozenset of str
        Names with port under which this server may be asked for.
    """

    def __init__(self, app: Any, token: str, hosts: frozenset[str]) -> None:
        self.app, self.token, self.hosts = app, token, hosts
        self._secret = token.encode()
        self.cookie = f"robustfourier-{secrets.token_hex(4)}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, exchange a token for a cookie, or hand on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        answer = self._refusal(scope, headers) or self._exchange(scope)
        if answer is None and not self._knows(headers):
            answer = PlainTextResponse(
                "Open the address that the command printed; it ends with a token.", 403
            )
        await (answer or self.app)(scope, receive, _with_policy(send))

    def _refusal(self, scope: Scope, headers: Headers) -> PlainTextResponse | None:
        if len(headers.getlist("host")) != 1 or headers["host"].lower() not in self.hosts:
            return PlainTextResponse("This is not my name.", 421)
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
        ours = {f"http://{host}" for host in self.hosts}
        if (origin is not None and origin.lower() not in ours) or (
            scope["method"] != "GET" and site not in ("same-origin", "none")
        ):
            return PlainTextResponse("Requests of other pages are refused.", 403)
        return None

    def _exchange(self, scope: Scope) -> RedirectResponse | None:
        """Answer the address with the token by a cookie and the address without it."""
        query = parse_qsl(scope["query_string"].decode("latin-1"))
        given = dict(query).get("token", "")
        if scope["method"] != "GET" or not secrets.compare_digest(given.encode(), self._secret):
            return None
        rest = urlencode([(key, value) for key, value in query if key != "token"])
        answer = RedirectResponse("/laboratory" if scope["path"] == "/laboratory" else "/", 303)
        answer.headers["location"] += f"?{rest}" if rest else ""
        answer.set_cookie(self.cookie, self.token, httponly=True, samesite="strict")
        return answer

    def _knows(self, headers: Headers) -> bool:
        given = [headers.get("x-token", "")]
        given += [cookie_parser(line).get(self.cookie, "") for line in headers.getlist("cookie")]
        return any(secrets.compare_digest(one.encode(), self._secret) for one in given)


def _with_policy(send: Send) -> Send:
    """Add the headers that every answer has, unless it brings a policy of its own."""

    async def sending(message: Any) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.setdefault("content-security-policy", POLICY)
            headers.setdefault("cache-control", "no-store")
            headers["x-content-type-options"] = "nosniff"
            headers["referrer-policy"] = "no-referrer"
            headers["cross-origin-opener-policy"] = "same-origin"
            headers["cross-origin-resource-policy"] = "same-origin"
        await send(message)

    return sending
