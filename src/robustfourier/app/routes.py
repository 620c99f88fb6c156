"""What can be asked of the server, and its answers."""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from robustfourier.app.jobs import Job, Jobs, Limits, QueueFullError
from robustfourier.app.page_files import (
    asset,
    examples,
    kind_of,
    page,
    result_files,
    zipped,
)
from robustfourier.app.process_pool import Workers
from robustfourier.app.reading_controls import CONTROLS, in_controls
from robustfourier.app.request_checks import checked_fit, checked_laboratory
from robustfourier.app.session_folder import FINISHED, File, Fit, Folder, tidy_name
from robustfourier.atomic_files import reason, write_text
from robustfourier.errors import InputError
from robustfourier.untrusted_files import parse_json

Found = TypeVar("Found")

_BODY = 100_000  # bytes of an order
_TWICE = 2  # starts of one fit; what brings the server down twice is not tried a third time
_LABORATORIES = 2  # trainings at a time, the oldest gives way


class Site:
    """The server's state and its routes."""

    def __init__(self, folder: Folder, limits: Limits) -> None:
        self.folder, self.limits = folder, limits
        self.workers = Workers(limits.memory)
        self.jobs = Jobs(limits, self.workers)
        self.trainings = Jobs(replace(limits, at_once=_LABORATORIES), self.workers)
        self.live: dict[str, Job] = {}  # jobs whose story is in memory

    def application(self) -> Starlette:
        """Return the ASGI application, without its guard."""
        routes = [
            Route("/", self.page),
            Route("/laboratory", self.page),
            Route("/static/{name:path}", _static),
            Route("/favicon.ico", _icon),
            Route("/api/state", self.state),
            Route("/api/files", self.upload, methods=["POST"]),
            Route("/api/examples/{name}", self.example, methods=["POST"]),
            Route("/api/files/{file}/forget", self.forget, methods=["POST"]),
            Route("/api/files/{file}/fits", self.add_fit, methods=["POST"]),
            Route("/api/files/{file}/show/{fit}", self.show, methods=["POST"]),
            Route("/api/compare/{first}/{second}", self.compare),
            Route("/api/laboratory", self.add_training, methods=["POST"]),
            Route("/api/jobs/{job}/events", self.events),
            Route("/api/jobs/{job}/cancel", self.cancel, methods=["POST"]),
            Route("/api/jobs/{job}/command", self.command, methods=["POST"]),
            Route("/fits/{fit}/everything.zip", self.everything),
            Route("/fits/{fit}/{name:path}", self.result),
        ]
        errors = {InputError: _refused, OSError: _full, HTTPException: _failed}
        return Starlette(routes=routes, lifespan=self._lifespan, exception_handlers=errors)

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        self._resume()
        yield
        await self.jobs.close()
        await self.trainings.close()
        await self.workers.close()

    def _resume(self) -> None:
        """Begin again what was under way when the server ended."""
        for fit in list(self.folder.fits.values()):
            if fit.state in FINISHED:
                continue
            if fit.starts >= _TWICE:
                self.folder.set_state(fit.id, "failed", "the server ended twice during this fit")
                continue
            try:
                self._start(fit)
            except QueueFullError:
                self.folder.set_state(fit.id, "cancelled", "the queue was full")

    # -- what there is ------------------------------------------------------------------------

    async def page(self, request: Request) -> Response:
        """One of the two pages; a worker for what can be begun there gets ready."""
        path = request.url.path
        self.workers.warm("fit" if path == "/" else "laboratory")
        return Response(page(path), media_type="text/html")

    async def state(self, _: Request) -> Response:
        """All files with their histories."""
        every = [
            {
                **{"id": file.id, "name": file.name, "size": file.size, "at": file.at},
                "current": file.current,
                "fits": [_entry(fit) for fit in self.folder.fits_of(file.id)],
            }
            for file in self.folder.files.values()
        ]
        limits = {"upload": self.limits.upload, "rows": self.limits.rows}
        controls = [control._asdict() for control in CONTROLS]
        there = {"files": every, "examples": sorted(examples()), "limits": limits}
        return JSONResponse({**there, "controls": controls})

    async def upload(self, request: Request) -> Response:
        """Keep a file; its bytes are the body, its name is in the address."""
        name = tidy_name(request.query_params.get("name", ""))
        length = request.headers.get("content-length", "0")
        if _whole(length, 0) is None or int(length) > self.limits.upload:
            raise self._too_large()
        file = self.folder.add_file(name)
        try:
            await self._store(request, file)
            return JSONResponse({"id": self.folder.keep_file(file).id})
        except BaseException:
            self.folder.discard(file)
            raise

    async def _store(self, request: Request, file: File) -> None:
        size = 0
        with file.path.open("wb") as out:
            try:
                async for chunk in request.stream():
                    size += len(chunk)
                    if size > self.limits.upload:
                        raise self._too_large()
                    await asyncio.to_thread(out.write, chunk)
            except ClientDisconnect:
                raise HTTPException(400, "the upload broke off") from None
        if size == 0:
            raise HTTPException(400, "the file is empty")

    def _too_large(self) -> HTTPException:
        words = f"larger than {self.limits.upload / 1e6:,.0f} MB; use `robustfourier fit` for it"
        return HTTPException(413, words)

    async def example(self, request: Request) -> Response:
        """Take a series that comes with the package."""
        source = examples().get(request.path_params["name"])
        if source is None:
            raise HTTPException(404, "no such series")
        return JSONResponse({"id": self.folder.add_file(source.name, source).id})

    async def forget(self, request: Request) -> Response:
        """Remove a file with its history."""
        file = self._file(request)
        for fit in self.folder.fits_of(file.id):
            if fit.id in self.live:
                self.jobs.cancel(self.live[fit.id])
        self.folder.discard(file)
        return JSONResponse({})

    # -- fits ---------------------------------------------------------------------------------

    async def add_fit(self, request: Request) -> Response:
        """Begin a fit of a file."""
        file, settings = self._file(request), checked_fit(await _body(request))
        fit = self.folder.add_fit(file, settings)
        try:
            self._start(fit)
        except QueueFullError:
            self.folder.set_state(fit.id, "cancelled", "the queue was full")
            raise HTTPException(429, "the queue is full; wait for a fit to end") from None
        return JSONResponse({"id": fit.id})

    def _start(self, fit: Fit) -> None:
        file, place = self.folder.files[fit.file], self.folder.place(fit.id)
        order = {
            **{"kind": "fit", "path": str(file.path), "name": file.name, **fit.settings},
            **{"out": str(place / "result"), "rows": self.limits.rows},
        }
        self.live[fit.id] = job = Job(fit.id, order, self._keep)
        self.jobs.add(job)

    def _keep(self, job: Job) -> None:
        """Record where a fit stands, and at its end what it reported."""
        with suppress(OSError):  # a full disk must not end the server: the page still knows
            self.folder.set_state(job.id, job.state, job.words)
            if job.ended and job.id in self.folder.fits:
                write_text(self.folder.place(job.id) / "story.jsonl", "\n".join([*job.story, ""]))
                del self.live[job.id]
        if job.id not in self.folder.fits:  # its file was forgotten meanwhile
            self.live.pop(job.id, None)

    async def show(self, request: Request) -> Response:
        """Show another entry of a file's history."""
        file, fit = self._file(request), self._fit(request)
        if fit.file != file.id:
            raise HTTPException(404, "no such fit")
        self.folder.show(file.id, fit.id)
        return JSONResponse({})

    async def compare(self, request: Request) -> Response:
        """What changed between two fits; asked of a process, which loads what models need."""
        fits = [self.folder.fits.get(request.path_params[name]) for name in ("first", "second")]
        if any(fit is None or fit.state != "done" for fit in fits):
            raise HTTPException(404, "no such fit, or it is not done")
        places = [str(self.folder.place(fit.id) / "result") for fit in fits if fit is not None]
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "robustfourier.app.fit_comparison", *places),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        answer, _ = await process.communicate()
        if process.returncode:
            raise HTTPException(500, "these two cannot be compared")
        return Response(answer, media_type="application/json")

    async def result(self, request: Request) -> Response:
        """One file of a result, by its name in the list that the run has written."""
        fit, name = self._fit(request), request.path_params["name"]
        folder = self.folder.place(fit.id) / "result"
        if name == "forecast.csv" and (folder.parent / name).exists():
            folder = folder.parent
        elif name not in result_files(folder):
            raise HTTPException(404, "no such file")
        content = await asyncio.to_thread((folder / name).read_bytes)
        answer = Response(content, headers={"cache-control": "private, max-age=3600"})
        answer.headers["content-type"] = kind_of(name)
        if name.endswith(".html"):
            policy = (folder.parent / "policy.txt").read_text(encoding="utf-8")
            answer.headers["content-security-policy"] = policy
        elif "save" in request.query_params:
            answer.headers["content-disposition"] = f'attachment; filename="{Path(name).name}"'
        return answer

    async def everything(self, request: Request) -> Response:
        """All files of a result in one archive."""
        folder = self.folder.place(self._fit(request).id) / "result"
        names = result_files(folder)
        if not names:
            raise HTTPException(404, "no result")
        content = await asyncio.to_thread(zipped, folder, names)
        headers = {"content-disposition": 'attachment; filename="robustfourier-result.zip"'}
        return Response(content, media_type="application/zip", headers=headers)

    # -- jobs of both kinds -------------------------------------------------------------------

    async def add_training(self, request: Request) -> Response:
        """Begin a training in the laboratory; it is not kept."""
        settings = checked_laboratory(await _body(request))
        for job in [*self.trainings.running][: -_LABORATORIES + 1 or None]:
            self.trainings.cancel(job)
        order = {"kind": "laboratory", "settings": settings}
        job = Job(secrets.token_urlsafe(12), order, lambda _: None)
        for old in [key for key, one in self.live.items() if one.ended]:
            del self.live[old]
        self.live[job.id] = job
        try:
            self.trainings.add(job)
        except QueueFullError:
            raise HTTPException(429, "too many trainings; wait a little") from None
        return JSONResponse({"id": job.id})

    async def events(self, request: Request) -> Response:
        """What a job reports, from the frame after the one seen last, as server-sent events."""
        one = request.path_params["job"]
        seen = request.headers.get("last-event-id") or request.query_params.get("after", "0")
        start = _whole(seen) or 0
        job = self.live.get(one)
        if job is None and one not in self.folder.fits:
            raise HTTPException(404, "no such job")

        async def stream() -> AsyncIterator[str]:
            yield "retry: 400\n\n"
            if job is None:
                for number, line in enumerate(self._old_story(one)[start:], start + 1):
                    yield f"id: {number}\ndata: {line}\n\n"
            else:
                async for number, line in job.follow(start):
                    yield f"id: {number}\ndata: {line}\n\n"
            if job is None or job.ended:
                yield "event: end\ndata: {}\n\n"

        return StreamingResponse(stream(), media_type="text/event-stream")

    def _old_story(self, fit: str) -> list[str]:
        path = self.folder.place(fit) / "story.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        record = self.folder.fits[fit]
        state = {"t": "state", "state": record.state, "words": record.words}
        return [*lines, json.dumps(state)]

    async def cancel(self, request: Request) -> Response:
        """End a job."""
        job = self._job(request)
        (self.jobs if job.order["kind"] == "fit" else self.trainings).cancel(job)
        return JSONResponse({})

    async def command(self, request: Request) -> Response:
        """Hand a command to a training: pause, go on, one step, speed."""
        job, body = self._job(request), await _body(request)
        name, value = body.get("command"), body.get("value", 0)
        if name not in ("pause", "go", "step", "speed") or not isinstance(value, (int, float)):
            raise HTTPException(400, "no such command")
        self.trainings.send(job, {"command": name, "value": float(value)})
        return JSONResponse({})

    def _file(self, request: Request) -> File:
        return _found(self.folder.files, request, "file")

    def _fit(self, request: Request) -> Fit:
        return _found(self.folder.fits, request, "fit")

    def _job(self, request: Request) -> Job:
        return _found(self.live, request, "job")


def _found(known: dict[str, Found], request: Request, what: str) -> Found:
    """What the address names, or the answer that there is none (a job may have ended)."""
    try:
        return known[request.path_params[what]]
    except KeyError:
        raise HTTPException(404, f"no such {what}") from None


def _entry(fit: Fit) -> dict[str, Any]:
    return {"id": fit.id, "state": fit.state, "words": fit.words, "at": fit.at, **fit.settings}


def _whole(text: str, most: int = 10**8) -> int | None:
    """A whole number in ASCII digits; None if it is none, or above what is asked for."""
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None
    return number if number is None or not most or number < most else None


async def _body(request: Request) -> dict[str, Any]:
    content = b""
    async for chunk in request.stream():
        content += chunk
        if len(content) > _BODY:
            raise HTTPException(413, "the order is too long")
    body = parse_json(content or b"{}", n_bytes=_BODY)
    if not isinstance(body, dict):
        raise InputError("the order must be an object")
    return body


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    content = asset(name)
    if content is None:
        raise HTTPException(404, "no such file")
    return Response(content, headers={"content-type": kind_of(name)})


async def _icon(_: Request) -> Response:
    return Response(status_code=204)


async def _refused(_: Request, error: Exception) -> Response:
    return JSONResponse({"detail": in_controls(str(error))}, 400)


async def _full(_: Request, error: Any) -> Response:
    return JSONResponse({"detail": f"this cannot be kept ({reason(error)})"}, 507)


async def _failed(_: Request, error: Any) -> Response:
    return JSONResponse({"detail": error.detail}, error.status_code)
