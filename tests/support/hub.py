"""A JupyterHub of the tests' own, for accounts that nobody else on this machine sees, and the browsers of these."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
import requests
import websocket
from support.jupyter import free_port, tail
from support.sample_lesson import ROOT

from autograder.demo.sample_class import ONE_THREAD

PATIENCE = 300.0  # seconds for any single step: a first server reads all of JupyterLab from the disk
OWN_ACCOUNTS = Path(__file__).with_name("own_accounts.py")
PROXY = ROOT / "tests" / "support" / "proxy" / "node_modules" / ".bin" / "configurable-http-proxy"
NO_PROXY = "JupyterHub needs its proxy, and it is not there. `make hub` gets it with npm."
NOT_ROOT = (
    "JupyterHub starts servers as several accounts, which only root can do: "
    "run this as root or as somebody whom sudo asks for no password, "
    "or leave it out: --ignore=tests/end_to_end/test_jupyterhub.py"
)
BIN = Path(sys.prefix) / "bin"
CONFIG = """\
c.JupyterHub.bind_url = "http://127.0.0.1:{port}"
c.JupyterHub.hub_port = {hub_port}
c.JupyterHub.db_url = "sqlite:////srv/jupyterhub.sqlite"
c.JupyterHub.cookie_secret_file = "/srv/cookie_secret"
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{proxy_port}"
c.ConfigurableHTTPProxy.command = ["{proxy}"]
c.ConfigurableHTTPProxy.pid_file = "/srv/proxy.pid"
c.Authenticator.allowed_users = {accounts}
c.Spawner.cmd = ["{bin}/jupyterhub-singleuser"]
c.Spawner.start_timeout = c.Spawner.http_timeout = {patience:.0f}
c.Spawner.environment = {environment}
"""
ENDED = re.compile(r"\[ended with (\d+)\]")


@contextmanager
def jupyter_hub(machine: Path) -> Iterator[Hub]:
    """Start JupyterHub, for the accounts of a folder that own_accounts.py describes; end it with all that it started.

    Args:
        machine: its `home/`, `prepare`, and what is to be set in `etc/`; passwords and the hub's settings are added.
    """
    as_root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if as_root and (not shutil.which("sudo") or subprocess.run([*as_root, "true"], check=False).returncode):
        pytest.fail(NOT_ROOT)
    if not PROXY.is_file():
        pytest.fail(NO_PROXY)
    passwords = {home.name: secrets.token_hex(8) for home in (machine / "home").iterdir()}
    (machine / "passwords").write_text("".join(f"{account}:{word}\n" for account, word in passwords.items()))
    (machine / "etc" / "profile.d").mkdir(parents=True)
    (machine / "etc" / "profile.d" / "course.sh").write_text(f"PATH={BIN}:$PATH\n", encoding="utf-8")
    port, hub_port, proxy_port = (free_port() for _ in range(3))
    values = {"port": port, "hub_port": hub_port, "proxy_port": proxy_port, "accounts": set(passwords)}
    config = CONFIG.format(proxy=PROXY, bin=BIN, patience=PATIENCE, environment=ONE_THREAD, **values)
    (machine / "etc" / "jupyterhub_config.py").write_text(config, encoding="utf-8")
    command = [
        *(*as_root, "env", "--ignore-environment", f"PATH={BIN}:{os.environ['PATH']}", "LANG=C.UTF-8", "HOME=/srv"),
        *("setpriv", "--pdeathsig", "KILL"),  # it ends when the tests are killed
        *("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"),
        *(sys.executable, OWN_ACCOUNTS, machine),
        *(sys.executable, "-m", "jupyterhub", "--config", "/etc/jupyterhub_config.py"),
    ]
    log, url = machine / "hub.log", f"http://127.0.0.1:{port}"
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
        try:
            _wait_until_it_answers(process, url, log)
            yield Hub(url, passwords, log)
        finally:
            _end(process, as_root)


def _wait_until_it_answers(process: subprocess.Popen, url: str, log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < end:
        with contextlib.suppress(requests.ConnectionError):
            if requests.get(f"{url}/hub/login", timeout=PATIENCE).ok:
                return
        time.sleep(0.1)
    pytest.fail(f"JupyterHub did not start. It said:\n{tail(log)}")


def _end(process: subprocess.Popen, as_root: Sequence[str]) -> None:
    """End what was started; with the first process in it, all others of its namespace end."""
    if process.poll() is None:
        ours = [process.pid, *(child.pid for child in psutil.Process(process.pid).children(recursive=True))]
        subprocess.run([*as_root, "kill", "-KILL", *map(str, ours)], capture_output=True, check=False)
    process.wait()


class Hub:
    """A running JupyterHub, where accounts sign in."""

    def __init__(self, url: str, passwords: Mapping[str, str], log: Path) -> None:
        self._url, self._passwords, self._log = url, passwords, log

    def sign_in(self, account: str) -> Browser:
        """Sign in as a person does, and wait for the account's own server."""
        browser, end = Browser(self._url, account), time.monotonic() + PATIENCE
        browser.sign_in(self._passwords[account])
        while not browser.is_served():
            if time.monotonic() > end:
                pytest.fail(f"The server of {account} did not start. JupyterHub said:\n{tail(self._log)}")
            time.sleep(0.5)
        return browser


class Browser:
    """What somebody who has signed in asks their server for, with the cookies of a browser."""

    def __init__(self, hub: str, account: str) -> None:
        self._hub, self.account, self._cookies = hub, account, requests.Session()

    def sign_in(self, password: str) -> None:
        """Fill in the form, which makes the hub start a server."""
        page = f"{self._hub}/hub/login"
        self._cookies.get(page, timeout=PATIENCE).raise_for_status()
        form = {"username": self.account, "password": password, "_xsrf": self._cookies.cookies["_xsrf"]}
        self._cookies.post(page, data=form, timeout=PATIENCE).raise_for_status()

    def is_served(self) -> bool:
        """Whether one's server answers, and not the hub in its place."""
        lab = self.address("lab")
        return self._cookies.get(lab, timeout=PATIENCE).url.startswith(lab)

    def address(self, path: str, account: str = "") -> str:
        """The address of something on a server, one's own by default."""
        return f"{self._hub}/user/{account or self.account}/{path}"

    def look_into(self, account: str) -> requests.Response:
        """Ask the server of another account for its files."""
        return self._cookies.get(self.address("api/contents", account), timeout=PATIENCE)

    def ask(self, method: str, path: str, **options: Any) -> Any:
        """Ask one's server as JupyterLab's own pages do, for what has to work; return what it answers."""
        token = self._cookies.cookies.get("_xsrf", path=f"/user/{self.account}/")
        headers = {"X-XSRFToken": token}
        answer = self._cookies.request(method, self.address(path), headers=headers, timeout=PATIENCE, **options)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def _connect(self, path: str) -> websocket.WebSocket:
        address = self.address(path)
        cookie = self._cookies.prepare_request(requests.Request("GET", address)).headers["Cookie"]
        address = address.replace("http:", "ws:")
        return websocket.create_connection(address, timeout=PATIENCE, header={"Cookie": cookie}, origin=self._hub)

    def terminal(self, command: str, folder: str = "") -> tuple[int, str]:
        """Run a command in a terminal of one's server; return its exit code, and what was to be seen."""
        name = self.ask("POST", "api/terminals", json={"cwd": folder} if folder else {})["name"]
        with contextlib.closing(self._connect(f"terminals/websocket/{name}")) as opened:
            opened.send(json.dumps(["stdin", f'{command}; echo "[ended with $?]"\r']))
            seen = ""
            while not (ended := ENDED.search(seen)):
                kind, *what = json.loads(opened.recv())
                seen += what[0] if kind == "stdout" else ""
        self.ask("DELETE", f"api/terminals/{name}")
        return int(ended[1]), seen

    @contextmanager
    def kernel(self, folder: str) -> Iterator[Kernel]:
        """A Python of one's own in a folder, as opening a notebook starts it."""
        started = self.ask("POST", "api/kernels", json={"name": "python3", "path": folder})
        with contextlib.closing(self._connect(f"api/kernels/{started['id']}/channels")) as opened:
            yield Kernel(opened)
        self.ask("DELETE", f"api/kernels/{started['id']}")


class Kernel:
    """A kernel, through its server."""

    def __init__(self, opened: websocket.WebSocket) -> None:
        self._opened = opened

    def run(self, code: str) -> str:
        """Run a cell; return the text that it shows, errors included."""
        message = uuid.uuid4().hex
        header = {"msg_id": message, "msg_type": "execute_request"}
        header |= {"session": "tests", "username": "", "version": "5.3"}
        content = {"code": code, "silent": False, "store_history": False, "allow_stdin": False}
        empty = {"parent_header": {}, "metadata": {}, "buffers": [], "channel": "shell"}
        self._opened.send(json.dumps({"header": header, "content": content} | empty))
        shown = ""
        while True:
            answer = json.loads(self._opened.recv())
            if answer["parent_header"].get("msg_id") != message:
                continue
            content = answer["content"]
            match answer["msg_type"]:
                case "stream":
                    shown += content["text"]
                case "display_data" | "execute_result":
                    shown += content["data"].get("text/plain", "")
                case "error":
                    shown += "\n".join(content["traceback"])
                case "status" if content["execution_state"] == "idle":
                    return shown
