"""The server: who may ask, what it refuses, and that nothing it was given is lost."""

import http.client
import json
import os
import re
import signal
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from tests.program import PROGRAM

from robustfourier.app.session_folder import Folder


def children(server) -> list[int]:
    """Processes whose parent is the server."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == server.process.pid and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


class TestWhoMayAsk:
    def test_nobody_without_a_session(self, server):
        assert server.ask("/", token=False).status == 403
        assert server.ask("/api/state", token=False, x_session="guess").status == 403
        assert server.ask(f"{server.base}api/state", token=False).status == 403

    def test_the_address_gives_a_cookie_that_scripts_cannot_read_and_only_our_path_is_sent(
        self, server
    ):
        assert "HttpOnly" in server.cookie
        assert "SameSite=strict" in server.cookie
        assert re.search(r"Path=/s/[A-Za-z0-9_-]{24}/;", server.cookie)
        assert server.cookie.startswith(f"robustfourier-{server.host.rpartition(':')[2]}=")
        value = server.cookie.split(";")[0]
        assert server.first_token not in value
        assert server.ask(server.base, token=False, cookie=value).status == 200
        assert server.ask("/", token=False, cookie=value).status == 403

    def test_a_token_opens_one_session_and_is_void_then(self, server):
        again = server.ask(f"/?token={server.first_token}", token=False)
        assert again.status == 403
        assert "set-cookie" not in again.headers

    def test_a_browser_tells_its_origin_when_it_changes_something(self, server):
        value = {"cookie": server.cookie.split(";")[0]}
        path = f"{server.base}api/examples/nothing"
        assert server.ask(path, {}, token=False, **value).status == 403
        own = {"origin": f"http://{server.host}"}
        assert server.ask(path, {}, token=False, **value, **own).status == 404

    @pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1:1", ""])
    def test_no_foreign_host(self, server, host):
        assert server.ask("/api/state", host=host).status == 421

    @pytest.mark.parametrize(
        "headers",
        [
            {"origin": "http://evil.example"},
            {"origin": "null"},
            {"sec_fetch_site": "cross-site"},
            {"sec_fetch_site": "same-site"},
        ],
    )
    def test_no_page_of_another_site(self, server, headers):
        answer = server.ask("/api/laboratory", {}, **headers)
        assert answer.status == 403
        assert b"other pages" in answer.body

    def test_our_own_page_may(self, server):
        headers = {"origin": f"http://{server.host}", "sec_fetch_site": "same-origin"}
        assert server.ask("/api/examples/nothing", {}, **headers).status == 404

    def test_it_listens_on_the_loopback_alone(self, server):
        port = int(server.host.rpartition(":")[2])
        table = Path("/proc/net/tcp").read_text().splitlines()[1:]
        listening = [line.split()[1] for line in table]
        assert f"0100007F:{port:04X}" in listening
        assert f"00000000:{port:04X}" not in listening

    def test_pages_run_no_script_of_their_own_text(self, server):
        for path in ("/", "/laboratory"):
            answer = server.ask(path)
            policy = answer.headers["content-security-policy"]
            assert "script-src 'self';" in policy
            assert "unsafe" not in policy
            assert b"<script>" not in answer.body
            assert b" onclick" not in answer.body
            assert b"http://" not in answer.body
            assert b"https://" not in answer.body

    def test_a_report_runs_its_two_scripts_alone(self, server, fitted):
        answer = server.ask(f"/fits/{fitted[1]}/report.html")
        scripts = answer.headers["content-security-policy"].split("script-src ")[1].split(";")[0]
        assert scripts.count("'sha256-") == 2
        assert "unsafe" not in scripts


class TestPaths:
    @pytest.mark.parametrize(
        "path",
        [
            "/static/../server.py",
            "/static/%2e%2e/server.py",
            "/static//etc/passwd",
            "/static/analyse.html",
            "/static/frame.html",
            "/fits/..%2f..%2frecords.jsonl/report.html",
            "/fits/{fit}/..%2f..%2f..%2frecords.jsonl",
            "/fits/{fit}/../story.jsonl",
            "/fits/{fit}/%2fetc%2fpasswd",
            "/api/jobs/..%2f..%2fx/events",
        ],
    )
    def test_no_path_leads_out(self, server, fitted, path):
        connection = http.client.HTTPConnection(server.host)
        connection.putrequest("GET", path.format(fit=fitted[1]), skip_accept_encoding=True)
        connection.putheader("x-session", server.token)
        connection.endheaders()
        assert connection.getresponse().status == 404
        connection.close()

    def test_ids_are_random_and_names_of_files_are_not_names_on_the_disk(self, server, record):
        one = server.upload(record, "..%2F..%2F%3Cb%3Eevil%0A.csv")
        other = server.upload(record, "x.csv")
        assert len(one) == 16
        assert one != other
        names = {f["id"]: f["name"] for f in server.ask("/api/state").json["files"]}
        assert names[one] == "<b>evil.csv"
        for file in (one, other):
            assert server.ask(f"/api/files/{file}/forget", {}).status == 200
            assert server.ask(f"/api/files/{file}/fits", {}).status == 404


class TestBadInput:
    def test_a_gigabyte_is_refused_before_it_is_read(self, server):
        connection = http.client.HTTPConnection(server.host)
        connection.putrequest("POST", "/api/files?name=large.csv")
        connection.putheader("x-session", server.token)
        connection.putheader("content-length", str(10**9))
        connection.endheaders()
        answer = connection.getresponse()
        assert answer.status == 413
        assert "larger than 5 MB" in json.loads(answer.read())["detail"]
        connection.close()

    def test_a_large_file_that_does_not_tell_its_size_is_cut_off_and_forgotten(self, server):
        before = len(server.ask("/api/state").json["files"])
        connection = http.client.HTTPConnection(server.host)
        connection.putrequest("POST", "/api/files?name=large.csv")
        connection.putheader("x-session", server.token)
        connection.putheader("transfer-encoding", "chunked")
        connection.endheaders()
        chunk = b"100000\r\n" + b"1" * 0x100000 + b"\r\n"
        with suppress(BrokenPipeError, ConnectionResetError):
            for _ in range(8):
                connection.send(chunk)
            assert connection.getresponse().status == 413
        connection.close()
        assert len(server.ask("/api/state").json["files"]) == before

    def test_a_picture_is_no_table_and_that_is_said(self, server, tmp_path):
        (tmp_path / "photo.csv").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(2000))
        fit = server.fit(server.upload(tmp_path / "photo.csv"))
        ended = server.wait(fit)
        assert ended["state"] == "failed"
        assert "photo.csv" in ended["words"]
        assert "a PNG picture" in ended["words"]

    def test_more_rows_than_allowed_are_refused(self, server, tmp_path):
        table = "t,y\n" + "\n".join(f"{i},{i % 7}" for i in range(6000))
        (tmp_path / "long.csv").write_text(table)
        ended = server.wait(server.fit(server.upload(tmp_path / "long.csv")))
        assert "6,000 samples; this app takes 5,000 at most" in ended["words"]

    @pytest.mark.parametrize(
        ("body", "words"),
        [
            (b"{", "no JSON"),
            (b"[]", "must be an object"),
            ({"reading": {"path": "/etc/passwd"}}, "no option here"),
            ({"reading": {"skip": -1}}, "Lines to skip=-1 must be a number"),
            ({"reading": {"rate": "fast"}}, "Samples per second='fast' must be a number"),
            ({"asked": {"false_alarm": 2}}, "must lie between 0 and 1"),
            ({"asked": {"loss": "none"}}, "“Outliers”: none is unknown; use one of auto"),
            ({"asked": {"period": "12h"}}, "must be a list"),
            ({"asked": {"__class__": "x"}}, "no option here"),
        ],
    )
    def test_orders_that_make_no_sense_are_refused_by_name(self, server, fitted, body, words):
        answer = server.ask(f"/api/files/{fitted[0]}/fits", body)
        assert answer.status == 400
        assert words in answer.json["detail"]

    def test_an_empty_file_is_refused(self, server):
        assert server.ask("/api/files?name=x.csv", b"").status == 400


class TestResults:
    def test_a_fit_equals_that_of_the_command_line_to_the_bit(
        self, server, fitted, record, tmp_path
    ):
        command = ["fit", str(record), "--value", "level", "--out", str(tmp_path / "out")]
        subprocess.run([*PROGRAM, *command, "--quiet"], check=True)
        for name in ("modes.csv", "components.csv", "fit.csv", "model.rfm"):
            ours = server.ask(f"/fits/{fitted[1]}/{name}").body
            assert ours == (tmp_path / "out" / name).read_bytes(), name

    def test_the_story_can_be_read_again_from_any_frame(self, server, fitted):
        story = server.story(fitted[1])
        kinds = [frame.get("t") for frame in story]
        assert kinds.count("weights") >= 2, "weights are seen to grow"
        assert {"columns", "read", "lines", "patterns", "result"} <= set(kinds)
        assert server.story(fitted[1], after=5) == story[5:]
        read = next(frame for frame in story if frame.get("t") == "read")
        assert (read["time"], read["value"], read["used"]) == ("time", "level", 400)

    def test_the_command_line_that_it_tells_is_that_of_the_fit(self, server, fitted):
        result = next(frame for frame in server.story(fitted[1]) if frame.get("t") == "result")
        assert result["command"] == "robustfourier fit tank.csv --value=level"
        assert "read_samples('tank.csv', value='level')" in result["python"]

    def test_everything_comes_in_one_archive(self, server, fitted):
        answer = server.ask(f"/fits/{fitted[1]}/everything.zip")
        assert answer.body[:2] == b"PK"
        assert b"report.html" in answer.body
        assert b"figures/fit.svg" in answer.body

    def test_what_is_shown_is_kept_with_the_file(self, server, fitted):
        file, first = fitted
        second = server.fit(file, reading={"value": "level"}, asked={"period": ["7"]})
        server.ask(f"/api/jobs/{second}/cancel", {})
        assert server.wait(second)["asked"] == {"period": ["7"]}
        assert server.ask(f"/api/files/{file}/show/{first}", {}).status == 200
        kept = next(f for f in server.ask("/api/state").json["files"] if f["id"] == file)
        assert kept["current"] == first
        ids = [one["id"] for one in kept["fits"]]
        assert ids.index(first) < ids.index(second)


class TestFaults:
    def test_a_worker_that_is_killed_ends_its_own_fit_alone(self, server, record):
        file = server.upload(record)
        fit = server.fit(file, reading={"value": "level"})
        server.wait(fit, "running")
        for child in children(server):
            os.kill(child, signal.SIGKILL)
        ended = server.wait(fit)
        assert ended["state"] == "failed"
        assert "ended from outside" in ended["words"]
        assert server.ask("/api/state").status == 200

    def test_a_fit_can_be_cancelled(self, server, record):
        fit = server.fit(server.upload(record), reading={"value": "level"})
        server.wait(fit, "running")
        assert server.ask(f"/api/jobs/{fit}/cancel", {}).status == 200
        assert server.wait(fit)["state"] == "cancelled"

    def test_a_client_that_goes_away_leaves_the_fit_running(self, server, fitted):
        assert server.state(fitted[1])["state"] == "done"  # see the fixture

    def test_a_hundred_tabs_see_the_same_story(self, server, fitted):
        stories: list[list[dict]] = []
        threads = [
            threading.Thread(target=lambda: stories.append(server.story(fitted[1])))
            for _ in range(100)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(stories) == 100
        assert all(story == stories[0] for story in stories)

    def test_a_server_that_is_killed_goes_on_where_it_was(self, start, record, tmp_path):
        first = start(tmp_path / "kept", "--jobs", "1")
        try:
            file = first.upload(record)
            running, waiting = (first.fit(file, reading={"value": "level"}) for _ in range(2))
            first.wait(running, "running")
            workers = children(first)
        finally:
            first.kill()
        # A line that was being written when it was killed, and a worker that found no server.
        with (tmp_path / "kept" / "records.jsonl").open("a") as records:
            records.write('{"record": "fit", "id"')
        second = start(tmp_path / "kept")
        try:
            assert second.state(waiting)["state"] in ("queued", "running")
            assert second.ask(f"/api/jobs/{waiting}/cancel", {}).status == 200
            assert second.wait(running)["state"] == "done"
            for _ in range(100):  # a worker looks for its parent from time to time
                if not (left := [pid for pid in workers if Path(f"/proc/{pid}").exists()]):
                    break
                time.sleep(0.1)
            assert not left
        finally:
            second.close()

    @pytest.mark.parametrize(
        ("limit", "words"),
        [
            (("--memory", "0.2"), "perhaps for want of memory"),
            (("--minutes", "0.001"), "took longer than 0.001 minutes"),
        ],
    )
    def test_a_fit_that_takes_too_much_is_ended_and_the_server_lives(
        self, start, record, tmp_path, limit, words
    ):
        one = start(tmp_path / "kept", *limit)
        try:
            ended = one.wait(one.fit(one.upload(record), reading={"value": "level"}))
            assert ended["state"] == "failed"
            assert words in ended["words"]
            assert one.ask("/").status == 200
        finally:
            one.close()

    def test_two_servers_do_not_share_a_folder(self, start, tmp_path):
        folder = tmp_path / "kept"
        one = start(folder)
        try:
            command = [*PROGRAM, "app", "--no-browser", "--folder", str(folder)]
            other = subprocess.run(command, capture_output=True, text=True, timeout=120)
            assert other.returncode == 1
            assert "another app keeps its results" in other.stderr
        finally:
            one.close()


class TestLaboratory:
    def test_two_networks_train_side_by_side_and_theorem_1_is_told(self, server):
        theory = {"layers": 0, "training": "layerwise", "init": "theory", "modes": 64}
        theory |= {"rate": 0.1, "ridge": 0.5, "batch": 1000}
        order = {"networks": [theory, {"layers": 0, "modes": 64}], "steps": 400}
        answer = server.ask("/api/laboratory", order)
        assert answer.status == 200, answer.body
        job = answer.json["id"]
        story: list[dict] = []
        while not any(frame.get("state") in ("done", "failed") for frame in story):
            story += server.story(job, len(story))
            story = [frame for frame in story if frame]  # the end itself is no frame
        (growth,) = (frame for frame in story if frame.get("t") == "growth")
        assert set(growth["modes"][:3]) == {5, 29, 61}
        assert np.all(np.diff(growth["stop"]) > 0)  # a larger level trains longer
        pictures = [frame for frame in story if frame.get("t") == "picture"]
        steps = [{p["step"] for p in pictures if p["network"] == n} for n in (0, 1)]
        assert steps[0] == steps[1]
        last = [p for p in pictures if p["network"] == 0 and p["phase"] == "diagonal"][-1]
        weights, predicted = np.array(last["weights"]), np.array(last["predicted"])
        true = np.array([5, 29, 61]) - 1
        assert np.all(np.abs(weights[true] / predicted[true] - 1.0) < 0.15)
        assert set(np.argsort(-predicted)[:3]) == set(true)

    @pytest.mark.parametrize(
        "order",
        [
            {},
            {"networks": [{}]},
            {"networks": [{}, {"modes": 10**6}]},
            {"networks": [{}, {}], "example": "own"},
            {"networks": [{}, {}], "steps": 10**9},
        ],
    )
    def test_experiments_that_are_none_are_refused(self, server, order):
        assert server.ask("/api/laboratory", order).status == 400


def test_a_full_disk_is_said_and_what_happened_is_still_known(tmp_path, monkeypatch):
    from robustfourier.app import session_folder as module

    folder = Folder(tmp_path / "kept")
    source = tmp_path / "x.csv"
    source.write_text("t,y\n1,2\n")
    fit = folder.add_fit(folder.add_file("x.csv", source), {"reading": {}, "asked": {}})

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "append_line", full)
    with pytest.raises(OSError, match="No space left"):
        folder.set_state(fit.id, "done")
    assert folder.fits[fit.id].state == "done"


def test_records_with_foreign_lines_are_read(tmp_path):
    folder = Folder(tmp_path / "kept")
    source = tmp_path / "x.csv"
    source.write_text("t,y\n1,2\n")
    file = folder.add_file("x.csv", source)
    fit = folder.add_fit(file, {"reading": {}, "asked": {}})
    folder.set_state(fit.id, "running")
    with (tmp_path / "kept" / "records.jsonl").open("a") as records:
        records.write('[]\n"text"\n{"record": "later version"}\n{"torn')
    folder.set_state(fit.id, "done")
    again = Folder(tmp_path / "kept")
    assert again.files == folder.files
    assert again.fits == folder.fits
    assert again.fits[fit.id].state == "done"
