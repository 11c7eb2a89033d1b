"""A store for tests. Use the fixture `petstore`."""

import json
import os
import shlex
import subprocess
import tempfile
import urllib.error
import urllib.request

import pytest

SERVE = ["serve", "--port", "0", "--ephemeral", "--json", "--plan", "free"]


class Petstore:
    """A store in its own process. It ends when this process ends, even after a crash."""

    def __init__(self):
        command = shlex.split(os.environ.get("PETSTORE_COMMAND", "npx petstore-lab"))
        self._log = tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen(
            command + SERVE,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        ready = self._read()
        self.base_url = ready["baseUrl"]
        self.key = ready["key"]

    def reset(self):
        """Restores the initial state: data, ids, limits and clock."""
        self._ask({"reset": True})

    def advance(self, duration):
        """Moves time forward by milliseconds, or by a string such as "1 minute"."""
        self._ask({"advance": duration})

    def stop(self):
        self._process.stdin.close()
        self._process.wait(timeout=15)

    def _ask(self, command):
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        answer = self._read()
        if not answer["ok"]:
            raise ValueError(answer["message"])

    def _read(self):
        line = self._process.stdout.readline()
        if not line:
            self._log.seek(0)
            raise RuntimeError(f"Petstore ended. docs/from-code.md says how to install it. It wrote:\n{self._log.read()}")
        return json.loads(line)


@pytest.fixture(scope="session")
def running_petstore():
    store = Petstore()
    yield store
    store.stop()


@pytest.fixture
def petstore(running_petstore):
    """A store in its initial state."""
    running_petstore.reset()
    return running_petstore


@pytest.fixture
def send(petstore):
    """Sends a request and returns its status, headers and body."""

    def send(method, path, body=None):
        request = urllib.request.Request(
            petstore.base_url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {petstore.key}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request) as response:
                return response.status, response.headers, json.load(response)
        except urllib.error.HTTPError as error:
            return error.code, error.headers, json.load(error)

    return send
