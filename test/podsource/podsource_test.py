"""Follows the merged pods of a node through changes of all sources, and through the absence of each."""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "hack/lib"))

from free_port import free_port  # noqa: E402

PATIENCE = int(os.environ.get("KUBEXX_PATIENCE") or 1)  # how many times longer to wait on a machine that does much else

NGINX = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log;
events {{}}
http {{
  access_log off;
  server {{ listen 127.0.0.1:{port}; location / {{ root {folder}/www; }} }}
}}
"""

MANIFEST = "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec: {{containers: [{{name: c, image: i}}]}}\n"


def manifest(name):
    return MANIFEST.format(name=name)


def pod_list(*names):
    items = [{"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i"}]}} for name in names]
    return json.dumps({"apiVersion": "v1", "kind": "PodList", "items": items})


class Follower:
    """Keeps the pods that the stream tells of, and how often it told."""

    def __init__(self, path):
        self.pods, self.lock, self.updates = {}, threading.Condition(), []
        self.socket = socket.socket(socket.AF_UNIX)
        end = time.monotonic() + 10 * PATIENCE
        while self.socket.connect_ex(path) != 0:
            assert time.monotonic() < end, "nobody listens on " + path
            time.sleep(0.02)
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        for line in self.socket.makefile():
            update = json.loads(line)
            with self.lock:
                if update["operation"] == "SET":
                    self.pods = {}
                for pod in update["pods"]:
                    source = pod["metadata"]["annotations"]["kubernetes.io/config.source"]
                    key = source, pod["metadata"]["uid"]
                    if update["operation"] == "REMOVE":
                        del self.pods[key]
                    else:
                        self.pods[key] = pod
                self.updates.append((update["operation"], update["source"]))
                self.lock.notify_all()

    def names(self):
        return sorted(f"{source}:{pod['metadata']['name']}" for (source, _), pod in self.pods.items())

    def expect(self, *names):
        with self.lock:
            if not self.lock.wait_for(lambda: self.names() == sorted(names), 60 * PATIENCE):
                sys.exit(f"the list is {self.names()}, not {sorted(names)}; told: {self.updates}")
        print("ok  ", " ".join(sorted(names)) or "nothing", flush=True)


class Test:
    def __init__(self, settings, folder):
        self.settings, self.folder = settings, folder
        self.manifests, self.www = os.path.join(folder, "manifests"), os.path.join(folder, "www")
        for path in (self.manifests, self.www):
            os.mkdir(path)
        self.port = free_port()
        self.namespace = f"podsource-{os.getpid()}"  # nothing finishes the deletion of an earlier one
        self.source_flags = ["--node-name", "node1", "--pod-manifest-path", self.manifests, "--manifest-url",
                             f"http://127.0.0.1:{self.port}/pods", "--http-check-frequency", "100ms"]

    def write(self, path, text):
        # Sources skip a name that begins with a dot, so they do not see the file before it is whole.
        new = os.path.join(os.path.dirname(path), "." + os.path.basename(path))
        with open(new, "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(new, path)

    def kubectl(self, *arguments, text=None):
        subprocess.run(["kubectl", *arguments], input=text, text=True, check=True, stdout=subprocess.DEVNULL)

    def make_pod(self, name, node):
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": self.namespace},
               "spec": {"nodeName": node, "containers": [{"name": "c", "image": "i"}]}}
        self.kubectl("create", "-f", "-", text=json.dumps(pod))

    def cluster(self, command):
        subprocess.run([self.settings.cluster, "--name", self.settings.cluster_name, command], check=True)

    def start_nginx(self):
        path = os.path.join(self.folder, "nginx.conf")
        self.write(path, NGINX.format(folder=self.folder, port=self.port))
        return subprocess.Popen(["/usr/sbin/nginx", "-p", self.folder, "-c", path])

    def once(self):
        done = subprocess.run([self.settings.program, *self.source_flags, "--once"], check=True, capture_output=True, text=True)
        return {pod["metadata"]["uid"] for pod in json.loads(done.stdout)["pods"]}

    def refuses_a_busy_loop(self):
        """Less than a millisecond would become none."""
        flags = ["--api=false", "--manifest-url", "http://127.0.0.1:1/pods", "--http-check-frequency", "100us", "--once"]
        done = subprocess.run([self.settings.program, *flags], capture_output=True, text=True, timeout=60 * PATIENCE)
        if done.returncode != 2 or "1ms or more" not in done.stderr:
            sys.exit(f"a frequency of 100us: exit code {done.returncode}, {done.stderr}")
        print("ok   a frequency below a millisecond is refused", flush=True)

    def run(self):
        self.refuses_a_busy_loop()
        self.kubectl("create", "namespace", self.namespace)
        self.kubectl("-n", self.namespace, "create", "serviceaccount", "default")
        self.write(os.path.join(self.www, "pods"), pod_list("web"))
        nginx = self.start_nginx()
        stream = os.path.join(self.folder, "socket")
        with open(os.path.join(self.folder, "log"), "w+", encoding="utf-8") as log:
            program = subprocess.Popen([self.settings.program, *self.source_flags, "--listen", stream], stderr=log)
            try:
                follower = Follower(stream)
                self.changes(follower)
                self.without_api_server(follower)
                nginx.terminate()
                nginx.wait()
                self.write(os.path.join(self.manifests, "last.yaml"), manifest("last"))
                follower.expect("api:a", "api:c", "file:dns-node1", "file:etcd-node1", "file:last-node1", "http:web2-node1")
                assert "RECONCILE" in {operation for operation, _ in follower.updates}, follower.updates
            finally:
                program.terminate()
                status = program.wait(10 * PATIENCE)
                nginx.terminate()
                nginx.wait()
                log.seek(0)
                text = log.read()
                self.kubectl("delete", "namespace", self.namespace, "--wait=false")
        assert status == 0, f"status {status}: {text}"
        assert text.count("bad.yaml") == 1, "a bad manifest is reported once: " + text
        assert not os.path.exists(stream), "the socket is left"

    def changes(self, follower):
        follower.expect("http:web-node1")
        self.make_pod("a", "node1")
        self.make_pod("elsewhere", "node2")
        follower.expect("api:a", "http:web-node1")
        self.write(os.path.join(self.manifests, "etcd.yaml"), manifest("etcd"))
        self.write(os.path.join(self.manifests, "bad.yaml"), "kind: [")
        follower.expect("api:a", "file:etcd-node1", "http:web-node1")
        self.make_pod("b", "node1")
        self.write(os.path.join(self.www, "pods"), pod_list("web", "web2"))
        follower.expect("api:a", "api:b", "file:etcd-node1", "http:web-node1", "http:web2-node1")
        self.kubectl("-n", self.namespace, "patch", "pod", "a", "--subresource=status", "-p", '{"status":{"phase":"Running"}}')
        self.kubectl("-n", self.namespace, "delete", "pod", "b", "--grace-period=0", "--force")
        self.write(os.path.join(self.www, "pods"), pod_list("web2"))
        follower.expect("api:a", "file:etcd-node1", "http:web2-node1")
        uids = {uid for _, uid in follower.pods}
        assert self.once() == uids, "another start gives other pods or other UIDs"

    def without_api_server(self, follower):
        self.cluster("kill-apiserver")
        self.write(os.path.join(self.manifests, "dns.yaml"), manifest("dns"))
        follower.expect("api:a", "file:dns-node1", "file:etcd-node1", "http:web2-node1")
        self.cluster("start-apiserver")
        self.make_pod("c", "node1")
        follower.expect("api:a", "api:c", "file:dns-node1", "file:etcd-node1", "http:web2-node1")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("program", "cluster", "cluster-name"):
        parser.add_argument("--" + name, required=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # nginx's workers read it under another name
        Test(parser.parse_args(), folder).run()


if __name__ == "__main__":
    main()
