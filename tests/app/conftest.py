"""One server for the tests of the app, started as a user does, and a browser where there is one."""

import json
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from tests.program import PROGRAM

PATIENCE = 240.0  # seconds; only a server that hangs needs them


@dataclass
class Answer:
    status: int
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


class Server:
    """A server in a process of its own."""

    def __init__(self, folder: Path, *options: str) -> None:
        command = [*PROGRAM, "app", "--no-browser"]
        self.process = subprocess.Popen(
            [*command, "--folder", str(folder), *options], stdout=subprocess.PIPE, text=True
        )
        parts = urlsplit(self.fresh_address())
        self.host, self.first_token = parts.netloc, parts.query.removeprefix("token=")
        answer = self.ask(f"/?token={self.first_token}", token=False)
        self.cookie = answer.headers["set-cookie"]
        self.token = re.search(r"=([^;]+)", self.cookie)[1]
        self.base = re.search(r"Path=([^;]+)", self.cookie)[1]

    def fresh_address(self) -> str:
        """The address that opens the next session; one is told whenever the last was taken."""
        while not (found := re.search(r"http\S+", self.process.stdout.readline())):
            pass
        return found[0]

    def ask(self, path, body=None, *, method=None, token=True, **headers) -> Answer:
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        given = {"x-session": self.token} if token else {}
        request = urllib.request.Request(
            f"http://{self.host}{path}",
            data,
            {**given, **{k.replace("_", "-"): v for k, v in headers.items()}},
            method=method,
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return Answer(answer.status, dict(answer.headers), answer.read())
        except urllib.error.HTTPError as error:
            return Answer(error.code, dict(error.headers), error.read())

    def upload(self, path: Path, name: str = "") -> str:
        answer = self.ask(f"/api/files?name={name or path.name}", path.read_bytes())
        assert answer.status == 200, answer.body
        return answer.json["id"]

    def fit(self, file: str, **settings) -> str:
        answer = self.ask(f"/api/files/{file}/fits", settings)
        assert answer.status == 200, answer.body
        return answer.json["id"]

    def state(self, fit: str) -> dict:
        files = self.ask("/api/state").json["files"]
        return next(one for file in files for one in file["fits"] if one["id"] == fit)

    def wait(self, fit: str, *states: str) -> dict:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if (one := self.state(fit))["state"] in (states or ("done", "failed", "cancelled")):
                return one
            time.sleep(0.05)
        raise AssertionError(f"{fit} is still {one['state']}")

    def story(self, job: str, after: int = 0) -> list[dict]:
        text = self.ask(f"/api/jobs/{job}/events?after={after}").body.decode()
        return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self._ended()

    def close(self) -> None:
        self.process.terminate()
        self._ended()

    def _ended(self) -> None:
        self.process.wait(timeout=PATIENCE)
        self.process.stdout.close()


@pytest.fixture(scope="session")
def start():
    """Starts further servers."""
    return Server


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    one = Server(tmp_path_factory.mktemp("app") / "kept", "--upload", "5", "--rows", "5000")
    yield one
    one.close()


@pytest.fixture(scope="session")
def record(tmp_path_factory) -> Path:
    """A sawtooth of 7 and a sinusoid of 3.1, with a column that nobody needs."""
    rng = np.random.default_rng(5)
    t = np.sort(rng.uniform(0.0, 100.0, 400))
    y = 2.0 * (t / 7.0 % 1.0) + np.cos(2 * np.pi * t / 3.1) + 0.3 * rng.normal(size=len(t))
    path = tmp_path_factory.mktemp("record") / "tank.csv"
    table = np.column_stack([t, y, rng.normal(size=len(t))])
    np.savetxt(path, table, delimiter=",", header="time,level,other", comments="", fmt="%.12g")
    return path


@pytest.fixture(scope="session")
def fitted(server, record):
    """A file and its first fit, done although the client that looked went away."""
    file = server.upload(record)
    fit = server.fit(file, reading={"value": "level"})
    name, port = server.host.split(":")
    with socket.create_connection((name, int(port))) as client:
        client.sendall(
            f"GET /api/jobs/{fit}/events HTTP/1.1\r\nHost: {server.host}\r\n"
            f"X-Session: {server.token}\r\n\r\n".encode()
        )
        assert b"200 OK" in client.recv(4096)
    assert server.wait(fit)["state"] == "done"
    return file, fit


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    """Debian's Chromium without a window, started once."""
    webdriver = pytest.importorskip("selenium.webdriver")
    binary = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("no chromium with chromedriver is installed")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for word in (
        *("headless=new", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run"),
        *("disable-background-networking", "disable-component-update", "disable-sync"),
        *(f"user-data-dir={tmp_path_factory.mktemp('profile')}", "window-size=1300,1000"),
    ):
        options.add_argument(f"--{word}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    one = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    one.set_script_timeout(PATIENCE)
    yield one
    one.quit()


@pytest.fixture
def browser(chromium, server):
    """The browser as if it had just been started: no cookie, nothing kept, nothing said."""
    chromium.get("about:blank")
    everything = {"origin": f"http://{server.host}", "storageTypes": "all"}
    chromium.execute_cdp_cmd("Storage.clearDataForOrigin", everything)
    chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    chromium.get_log("browser")
    return chromium
