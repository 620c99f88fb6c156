"""The app: who gets in, what its folder may hold, and requests of every kind."""

import http.client
import json
import os
import re
import socket
import stat
from contextlib import closing, suppress

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from tests.app.conftest import Server

from robustfourier.app.session_folder import Folder, way_in
from robustfourier.errors import OutputError


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    one = Server(tmp_path_factory.mktemp("app") / "kept")
    yield one
    one.close()


def test_a_cookie_that_another_port_might_see_is_of_no_use_there_or_here(server):
    """Browsers send cookies to every port of a host, but only to requests below their path."""
    (path,) = re.findall(r"Path=([^;]+)", server.cookie)
    assert len(path) > 20
    value = server.cookie.split(";")[0]
    for asked in ("/", "/api/state", "/s/", "/s/guess/api/state"):
        assert server.ask(asked, token=False, cookie=value).status == 403


def test_the_page_that_leads_in_is_for_the_user_alone(tmp_path):
    page = way_in(tmp_path, "http://127.0.0.1:1/?token=secret")
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert "token=secret" in page.read_text()
    assert 'name="referrer" content="no-referrer"' in page.read_text()


def test_the_command_opens_a_file_and_no_address(tmp_path, monkeypatch):
    import webbrowser

    from robustfourier import app
    from robustfourier.cli import main

    seen = []
    monkeypatch.setattr(webbrowser, "open", seen.append)

    def serve(folder, _, *, ready, **__):
        folder.mkdir()
        ready("http://127.0.0.1:1/?token=secret")
        assert (folder / "open.html").exists()
        ready("http://127.0.0.1:1/?token=second")

    monkeypatch.setattr(app, "serve", serve)
    with pytest.raises(SystemExit):
        main(["app", "--folder", str(tmp_path / "kept")])
    assert seen == [(tmp_path / "kept" / "open.html").as_uri()]
    assert not (tmp_path / "kept" / "open.html").exists(), "its token is used up"


@pytest.mark.skipif(os.name == "nt", reason="permissions are others there")
def test_the_folder_is_the_users_alone(tmp_path):
    (tmp_path / "ours").mkdir(mode=0o755)
    (tmp_path / "ours" / "records.jsonl").write_text("")
    for folder in (tmp_path / "new", tmp_path / "ours"):
        Folder(folder)
        for place in (folder, folder / "files", folder / "fits"):
            assert stat.S_IMODE(place.stat().st_mode) == 0o700


ID = "A" * 16


@pytest.mark.parametrize(
    "line",
    [
        *("", "[]", "7", "{", "[" * 100_000, '{"record": "file"}', '{"record": "file", "id": 7}'),
        json.dumps({"record": "file", "id": ID}),
        json.dumps({"record": "file", "id": ID, "ending": "/../../x", "name": "a", "size": 1}),
        json.dumps({"record": "fit", "id": ID, "file": "nothing"}),
        json.dumps({"record": "fit", "id": ID, "file": []}),
        json.dumps({"record": "fit", "id": ID, "file": "B" * 16, "settings": 7}),
        json.dumps({"record": "fit", "id": ID, "file": "B" * 16, "settings": {"reading": []}}),
        json.dumps({"record": "state", "id": "C" * 16, "state": []}),
        json.dumps({"record": "state", "id": "C" * 16}),
        json.dumps({"record": "current", "id": "B" * 16, "fit": {}}),
        json.dumps({"record": "forgotten", "id": []}),
        json.dumps({"record": "file", "id": ID, "ending": ".csv", "name": [1], "size": "x"}),
        '{"record": "file", "id": "AAAAAAAAAAAAAAAA", "ending": ".csv", "name": "\\ud800"}',
    ],
)
def test_a_malformed_record_does_not_keep_the_app_from_starting(tmp_path, line):
    sound = [
        {"record": "file", "id": "B" * 16, "ending": ".csv", "name": "a.csv", "size": 5, "at": 1.0},
        {"record": "fit", "id": "C" * 16, "file": "B" * 16, "settings": {}, "at": 1.0},
    ]
    text = "\n".join([*map(json.dumps, sound), line, ""])
    (tmp_path / "records.jsonl").write_text(text, encoding="utf-8")
    folder = Folder(tmp_path)
    assert folder.files["B" * 16].name == "a.csv"
    assert list(folder.fits) == ["C" * 16]
    json.dumps([one.name for one in folder.files.values()]).encode()


@pytest.mark.parametrize("one", ["../../precious", "..", "/precious", "files/../../x", "a/b", "."])
def test_to_forget_deletes_no_folder_but_our_own(tmp_path, one):
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis.txt").write_text("years of work")
    kept = tmp_path / "app"
    (kept / "files").mkdir(parents=True)
    one = one.replace("/precious", str(precious)) if one.startswith("/") else one
    lines = [
        {"record": "file", "id": one, "ending": ".csv", "name": "a", "size": 1},
        {"record": "file", "id": ID, "ending": ".csv", "name": "a", "size": 1},
        {"record": "fit", "id": one, "file": ID, "settings": {"reading": {}, "asked": {}}},
    ]
    (kept / "records.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    folder = Folder(kept)
    for file in list(folder.files.values()):
        folder.discard(file)
    assert (precious / "thesis.txt").read_text() == "years of work"
    assert (kept / "fits").is_dir()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_a_pipe_among_the_records_is_told_and_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "records.jsonl")
    with pytest.raises(OutputError, match=re.escape("it is no regular file")):
        Folder(tmp_path)


def test_a_result_is_served_from_its_own_folder_alone(tmp_path):
    from robustfourier.app.page_files import result_files

    (tmp_path / "secret.txt").write_text("secret")
    result = tmp_path / "result"
    result.mkdir()
    (result / "link.txt").symlink_to(tmp_path / "secret.txt")
    (result / "fit.csv").write_text("1")
    names = ["fit.csv", "link.txt", "../secret.txt", str(tmp_path / "secret.txt"), 7]
    record = {"holds": "run", "finished": True, "identity": {}, "files": names}
    (result / "run.json").write_text(json.dumps(record))
    assert result_files(result) == ["fit.csv"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/jobs/nothing/events?after=²", None),
        ("/api/jobs/nothing/events?after=" + "9" * 400, None),
        ("/api/laboratory", b'{"networks": [{"rate": 1' + b"0" * 400 + b"}, {}]}"),
        ("/api/laboratory", b'{"networks": [{}, {}], "noise": NaN}'),
        ("/api/laboratory", b'{"networks": [{}, {}], "example": "\\ud800"}'),
        ("/api/laboratory", b'{"networks": [{}, {}], "noise": 1e999}'),
        ("/api/laboratory", b"[" * 90_000),
        ("/api/files/nothing/fits", b'{"reading": {"time": "\\ud800"}}'),
        ("/api/files?name=%ED%A0%80", b""),
        ("/api/files?name=a", b""),
    ],
)
def test_no_request_ends_in_an_error_of_the_server(server, path, body):
    path = path.replace("²", "%C2%B2")
    assert 400 <= server.ask(path, body).status < 500


def test_odd_numbers_in_the_address_of_a_story_are_no_error(server):
    file = server.ask("/api/examples/sunspots", {}).json["id"]
    fit = server.fit(file)
    for after in ("%C2%B2", "9" * 400, "-1", "", "%00"):
        answer = server.ask(f"/api/jobs/{fit}/events?after={after}")
        assert answer.status == 200
    connection = http.client.HTTPConnection(server.host)
    with closing(connection):
        connection.putrequest("POST", "/api/files?name=a")
        connection.putheader("x-session", server.token)
        connection.putheader("content-length", "5")
        connection.putheader("last-event-id", "\u00b2")
        connection.endheaders(b"t,v\n1")
        assert connection.getresponse().status == 200


def _read(connection):
    with closing(connection), suppress(ConnectionResetError):
        return connection.recv(10)
    return b""


def test_idle_connections_are_let_go_and_there_are_only_so_many(tmp_path, monkeypatch):
    from robustfourier.app import idle_connections

    folder = tmp_path / "kept"
    monkeypatch.setenv("PYTHONPATH", str(tmp_path) + os.pathsep + os.environ.get("PYTHONPATH", ""))
    (tmp_path / "sitecustomize.py").write_text(
        "import robustfourier.app.idle_connections as c\nc.IDLE, c.MOST = 0.3, 20\n"
    )
    one = Server(folder)
    try:
        name, port = one.host.split(":")
        held = [socket.create_connection((name, int(port))) for _ in range(40)]
        for each in held:
            each.settimeout(60)
            with suppress(ConnectionError):  # those beyond the limit are closed already
                each.sendall(b"GET / HTTP/1.1\r\n")  # and no more
        assert [_read(each) for each in held] == [b""] * 40
        assert one.ask("/api/state").status == 200
    finally:
        one.close()
    assert idle_connections.IDLE > 1, "only there"
