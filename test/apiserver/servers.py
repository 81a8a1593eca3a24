"""A kubexx-apiserver as a process, and requests to any API server; with Python's standard library alone."""

import copy
import http.client
import json
import os
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.parse
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "hack/lib"))

from free_port import free_port  # noqa: E402

STARTED_WITHIN = 20.0  # seconds
IDLE_FOR = 30.0  # seconds: servers close connections that have been idle for longer, kube-apiserver after 90


def cache():
    """The folder of built programs; see hack/lib/common.sh."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(os.environ.get("KUBEXX_CACHE") or f"{base}/kubexx")


class Target:
    """Where a server is and how it lets one in, from a kubeconfig."""

    def __init__(self, kubeconfig):
        kubectl = cache() / "bin" / "kubectl"
        text = subprocess.run([kubectl, "--kubeconfig", kubeconfig, "config", "view", "--raw", "--flatten", "-o", "json"],
                              check=True, capture_output=True).stdout
        config = json.loads(text)
        url = urllib.parse.urlsplit(config["clusters"][0]["cluster"]["server"])
        self.host, self.port = url.hostname, url.port
        self.tls = None
        self.headers = {}
        self._authority = None
        if url.scheme == "https":
            self._authority = _decoded(config["clusters"][0]["cluster"]["certificate-authority-data"])
            self.tls = ssl.create_default_context(cadata=self._authority)
        user = config["users"][0]["user"]
        if "token" in user:
            self.headers["Authorization"] = "Bearer " + user["token"]
        if "client-certificate-data" in user and self.tls is not None:
            self._load_certificate(user)

    def _load_certificate(self, user):
        with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
            file.write(_decoded(user["client-certificate-data"]) + "\n" + _decoded(user["client-key-data"]))
            file.flush()
            self.tls.load_cert_chain(file.name)

    def with_credentials(self, token=None, certificate=None):
        """The same server for somebody else: `certificate` is the path of a PEM file with its key. Without both, for nobody."""
        other = copy.copy(self)
        other.headers = {"Authorization": "Bearer " + token} if token else {}
        if self.tls is not None:
            other.tls = ssl.create_default_context(cadata=self._authority)
            if certificate:
                other.tls.load_cert_chain(certificate)
        return other

    def connect(self, timeout=30.0):
        """A new connection."""
        if self.tls is None:
            return http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        return http.client.HTTPSConnection(self.host, self.port, timeout=timeout, context=self.tls)


def _decoded(base64_text):
    import base64
    return base64.b64decode(base64_text).decode()


class Answer:
    """Status code, headers and body; the body as JSON when it is that."""

    def __init__(self, code, content_type, raw, warnings=()):
        self.code, self.content_type, self.raw, self.warnings = code, content_type, raw, list(warnings)
        try:
            self.body = json.loads(raw)
        except ValueError:
            self.body = raw.decode(errors="replace")


class Client:
    """Requests over one connection, which is made anew when it broke or was idle for long. Not thread-safe."""

    def __init__(self, target):
        self.target = target
        self._connection = None
        self._used_at = 0.0

    def request(self, method, path, body=None, content_type="application/json", headers=None):
        """Sends it once; OSError and HTTPException when there is no whole answer."""
        if time.monotonic() > self._used_at + IDLE_FOR:
            self.close()
        if self._connection is None:
            self._connection = self.target.connect()
        sent = dict(self.target.headers)
        sent.update(headers or {})
        if body is not None:
            sent["Content-Type"] = content_type
            if not isinstance(body, (str, bytes)):
                body = json.dumps(body)
        try:
            self._connection.request(method, path, body=body, headers=sent)
            got = self._connection.getresponse()
            answer = Answer(got.status, got.headers.get("Content-Type", ""), got.read(), got.headers.get_all("Warning", []))
            self._used_at = time.monotonic()
            return answer
        except (OSError, http.client.HTTPException):
            self.close()
            raise

    def close(self):
        """Safe to repeat."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class ApiServer:
    """A kubexx-apiserver at one address, which survives its process: to be killed and started again."""

    def __init__(self, folder, *flags):
        build = os.environ.get("KUBEXX_BUILD_DIR") or str(Path(__file__).resolve().parents[2] / "build/release")
        self.folder = Path(folder)
        self.kubeconfig = self.folder / "kubeconfig"
        self.port = free_port()
        self._log = open(self.folder / "server.log", "ab")
        self._command = [f"{build}/bin/kubexx-apiserver", "--address", f"127.0.0.1:{self.port}", "--token", "a-token",
                         "--write-kubeconfig", str(self.kubeconfig), "--data-file", str(self.folder / "data"),
                         "--tls-cert-file", str(self.folder / "tls.crt"), "--tls-private-key-file", str(self.folder / "tls.key"), *flags]
        self._process = None
        # One certificate for all processes: clients keep the authority that they have read.
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                        "-subj", "/CN=kubexx-apiserver-test", "-addext", "subjectAltName=IP:127.0.0.1",
                        # What rustls takes as the certificate of a server.
                        "-addext", "basicConstraints=critical,CA:FALSE",
                        "-keyout", str(self.folder / "tls.key"), "-out", str(self.folder / "tls.crt")],
                       check=True, capture_output=True)

    def start(self):
        """Returns when it serves."""
        self.kubeconfig.unlink(missing_ok=True)
        self._process = subprocess.Popen(self._command, stdout=self._log, stderr=self._log)
        deadline = time.monotonic() + STARTED_WITHIN
        while not (self.kubeconfig.exists() and "current-context" in self.kubeconfig.read_text()):
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("kubexx-apiserver did not start:\n" + (self.folder / "server.log").read_text())
            time.sleep(0.01)

    def kill(self):
        """SIGKILL."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None
