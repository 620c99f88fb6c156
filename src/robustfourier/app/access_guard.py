"""Who may ask: the session, the Host, the Origin; and what a page of ours may load.

A page of another site can make the user's browser send requests to this server, and another server
on this machine is sent our cookies: cookies know no port. So the address that is printed holds a
token that opens one session and is void then. A session is a secret cookie *and* a path that nobody
can guess, to which alone the browser sends it; no server at another port is ever asked for that
path. A name that another site points to our address is no Host of ours, and its Origin is its own.
All of it is checked on every request, before anything is read.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, PlainTextResponse, Response

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

    `hosts` are names with port under which this server may be asked for; `announce` is given each
    token, the first one at once and a new one when a session has taken the last.
    """

    def __init__(self, app: Any, hosts: frozenset[str], announce: Callable[[str], None]) -> None:
        self.app, self.hosts, self.announce = app, hosts, announce
        self.cookie = f"robustfourier-{min(hosts).rpartition(':')[2]}"
        self._sessions: dict[str, bytes] = {}  # path to secret
        self.token = ""
        self._renew()

    def _renew(self) -> None:
        self.token = secrets.token_urlsafe(18)
        self.announce(self.token)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, exchange a token for a session, or hand on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        answer: Any = self._wrong_name(headers) or self._exchange(scope)
        if answer is None:
            answer = self._other_page(scope, headers)
        known = None if answer is not None else self._within(scope, headers)
        if answer is None and known is None:
            answer = PlainTextResponse(
                "Open the address that the command printed last; it ends with a token that is good "
                "for one browser.",
                403,
            )
        await (answer or self.app)(known or scope, receive, _with_policy(send))

    def _wrong_name(self, headers: Headers) -> PlainTextResponse | None:
        if len(headers.getlist("host")) != 1 or headers["host"].lower() not in self.hosts:
            return PlainTextResponse("This is not my name.", 421)
        return None

    def _other_page(self, scope: Scope, headers: Headers) -> PlainTextResponse | None:
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
        ours = {f"http://{host}" for host in self.hosts}
        own = origin is None or origin.lower() in ours
        if scope["method"] != "GET" and "cookie" in headers:  # a browser, which tells its Origin
            own = origin is not None and own
        if not own or site not in ("same-origin", "none"):
            return PlainTextResponse("Requests of other pages are refused.", 403)
        return None

    def _exchange(self, scope: Scope) -> Response | None:
        """Answer the address with the token by a session, and a page that leads there.

        A page and no redirection: the browser sends a strict cookie only where our own page leads.
        """
        query = dict(parse_qsl(scope["query_string"].decode("latin-1")))
        given = query.get("token", "").encode("utf-8", "replace")
        if scope["method"] != "GET" or not secrets.compare_digest(given, self.token.encode()):
            return None
        path, secret = f"/s/{secrets.token_urlsafe(18)}/", secrets.token_urlsafe(24)
        self._sessions[path] = secret.encode()
        self._renew()
        there = path + ("laboratory" if scope["path"] == "/laboratory" else "")
        icon = '<link rel="icon" href="data:,">'  # or the browser asks for one without its session
        page = f'<meta charset="utf-8">{icon}<meta http-equiv="refresh" content="0;url={there}">'
        answer = HTMLResponse(f'{page}<a href="{there}">robustfourier</a>')
        answer.set_cookie(self.cookie, secret, path=path, httponly=True, samesite="strict")
        return answer

    def _within(self, scope: Scope, headers: Headers) -> Scope | None:
        """The request as the application sees it, if it is one of a session; else None.

        Programs may send the secret as a header instead, which no page of another can.
        """
        path = scope["path"]
        if given := headers.get("x-session"):
            known = [_same(given, secret) for secret in self._sessions.values()]
            return scope if any(known) else None
        base = next((one for one in self._sessions if path.startswith(one)), None)
        if base is None:
            return None
        cookies = [cookie_parser(line).get(self.cookie, "") for line in headers.getlist("cookie")]
        if not any(_same(one, self._sessions[base]) for one in cookies):
            return None
        rest = path[len(base) - 1 :]
        return {**scope, "path": rest, "raw_path": quote(rest).encode()}


def _same(given: str, secret: bytes) -> bool:
    return secrets.compare_digest(given.encode("utf-8", "replace"), secret)


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
