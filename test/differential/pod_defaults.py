"""Makes pods and templates that say little, and compares what both servers fill in. forms.py calls it."""

_HTTP = {"httpGet": {"port": 80}}
_CONTAINER = {
    "name": "c", "image": "i:1", "ports": [{"containerPort": 80}, {"containerPort": 81, "protocol": "UDP"}],
    "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}, {"name": "B", "value": "b"},
            {"name": "C", "valueFrom": {"configMapKeyRef": {"name": "m", "key": "k"}}}],
    "resources": {"limits": {"cpu": "1", "memory": "1Mi"}, "requests": {"cpu": "500m"}},
    "livenessProbe": _HTTP, "readinessProbe": {"grpc": {"port": 81}, "periodSeconds": 3}, "startupProbe": {"exec": {"command": ["a"]}, "timeoutSeconds": 7},
    "lifecycle": {"preStop": {"httpGet": {"port": 80, "path": "/end"}}, "postStart": {"exec": {"command": ["a"]}}},
}
_VOLUMES = [
    {"name": "e"}, {"name": "h", "hostPath": {"path": "/a"}}, {"name": "s", "secret": {"secretName": "s"}}, {"name": "m", "configMap": {"name": "m"}},
    {"name": "d", "downwardAPI": {"items": [{"path": "p", "fieldRef": {"fieldPath": "metadata.labels"}}]}},
    {"name": "p", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}, {"configMap": {"name": "m"}},
                                            {"downwardAPI": {"items": [{"path": "q", "fieldRef": {"fieldPath": "metadata.name"}}]}}]}},
    {"name": "i", "iscsi": {"targetPortal": "1.2.3.4:5", "iqn": "iqn.2001-04.com.example:a", "lun": 0}},
    {"name": "r", "rbd": {"monitors": ["m"], "image": "i"}}, {"name": "a", "azureDisk": {"diskName": "d", "diskURI": "https://a.example.com/d.vhd"}},
    {"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}}},
    {"name": "g", "image": {"reference": "registry.example.com/a"}}, {"name": "n", "nfs": {"server": "s", "path": "/"}},
]
_IMAGES = ["a", "a:1", "a:latest", "b.c:5000/a", "b.c:5000/a:1", "a@sha256:" + "0" * 64, "a:latest@sha256:" + "0" * 64, "a@sha256:0", "a:latest@sha256:0", "A", "a/B", "a b",
           "a:", "a:b:c", "a//b", "a..b", "a__b", "a___b", "a-", "a--b", "http://a/b", "a.b:port/c", "[::1]:5000/a", "[::1/a", "UPPER/a", "localhost/a",
           "0" * 64, "a:" + "x" * 128, "a:" + "x" * 129, "a" * 247, "a" * 248, "a@sha256:" + "A" * 64, "a@sha512:" + "0" * 128, "docker.io/a", "a.-b/c"]
PODS = {
    "all": {"containers": [_CONTAINER], "volumes": _VOLUMES},
    "first": {"initContainers": [_CONTAINER | {"name": "f", "lifecycle": None, "livenessProbe": None, "readinessProbe": None, "startupProbe": None}],
              "containers": [{"name": "c", "image": "i"}]},
    "images": {"containers": [{"name": f"c{number}", "image": image} for number, image in enumerate(_IMAGES)]},
    "host": {"hostNetwork": True, "containers": [{"name": "c", "image": "i", "ports": [{"containerPort": 80}]}]},
    "account": {"containers": [{"name": "c", "image": "i"}], "serviceAccount": "default"},
}


def _filled_in(answer, template):
    if answer.code != 201:
        return {"code": answer.code, "body": answer.body}
    spec = answer.body["spec"]["template"]["spec"] if template else answer.body["spec"]
    # What plugins of admission add to pods, which ours has not.
    return {key: value for key, value in spec.items() if template or key not in ("priority", "preemptionPolicy", "tolerations", "serviceAccount", "serviceAccountName")}


def compare_pod_defaults(comparison, namespace):
    for what, spec in PODS.items():
        template = {"metadata": {"labels": {"a": "b"}}, "spec": spec}
        comparison.both(f"a template of pods, {what}", lambda side, t=template: _filled_in(side.ask(
            "POST", f"/apis/apps/v1/namespaces/{namespace}/deployments?dryRun=All",
            {"metadata": {"name": "defaults"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": t}}), True))
        comparison.both(f"a pod, {what}", lambda side, s=spec: _filled_in(side.ask(
            "POST", f"/api/v1/namespaces/{namespace}/pods?dryRun=All",
            {"metadata": {"name": "defaults"}, "spec": s | {"automountServiceAccountToken": False}}), False))
