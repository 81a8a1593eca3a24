"""What forms.py asks for."""

_META = ";g=meta.k8s.io;v="
_JSON = "application/json"
_PROTOBUF = "application/vnd.kubernetes.protobuf"

_VIEWS = [f"{encoding};as={view}{_META}{version}" for encoding in (_JSON, _PROTOBUF)
          for view in ("Table", "PartialObjectMetadata", "PartialObjectMetadataList") for version in ("v1", "v1beta1")]

# kube-apiserver refuses "*" and "application/*" when nothing else is named with them, which would be good for JSON.
ACCEPTS = _VIEWS + [
    _JSON, _PROTOBUF, "*/*", "text/*", "text/html", "json", "application/", "application/json/x",
    "Application/JSON", "application/JSON", "application/json; charset=utf-8", "application/json;pretty=0", "application/json;as=", " application/json ",
    "application/json;q=0", f"{_JSON};q=0.5,{_PROTOBUF};q=0.9", f"{_PROTOBUF};q=0.5,{_JSON};q=0.55", f"{_PROTOBUF};q=x,{_JSON};q=0.1", f"{_JSON};q=0.1,{_PROTOBUF}; q=0.2",
    f"*/*;q=0.1,{_PROTOBUF};q=0.05", f"text/html,{_PROTOBUF};q=0.2,*/*;q=0.1", f"text/html, {_JSON};q=0.9", f"application/*;q=0.3,{_PROTOBUF};q=0.2",
    "application/json;stream=watch", "application/json;stream=other", "application/json;sv=v1", "application/json;sv=v2", "application/json;x=y;z",
    f"{_PROTOBUF};as=Table{_META}v1,{_JSON}", f"{_JSON};as=Table{_META}v1,{_JSON}", f"{_JSON};as=Table{_META}v2,{_JSON};as=Table{_META}v1beta1",
    f"{_JSON};as=Table;v=v1", f"{_JSON};as=Table;g=meta.k8s.io", f"{_JSON}{_META}v1", f"{_JSON};as=table{_META}v1", f"{_JSON};as=\"Table\"{_META}v1",
    f"*/*;as=Table{_META}v1", f"*/*;as=PartialObjectMetadata{_META}v1beta1", f"{_JSON};as=Something{_META}v1", f"{_JSON};AS=Table{_META}v1",
]

# A watch of a list's metadata ends at once with kube-apiserver, which cannot write such events.
WATCHED_AS = [one for one in _VIEWS if "List" not in one] + [_PROTOBUF, "*/*"]

# kube-apiserver waits for its store before the mark.
STREAMED = "watch=1&timeoutSeconds=5&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
STREAMED_AS = [f"{_JSON};as=Table{_META}v1", f"{_JSON};as=Table{_META}v1beta1", f"{_JSON};as=PartialObjectMetadata{_META}v1",
               f"{_PROTOBUF};as=PartialObjectMetadata{_META}v1"]
PAGED_AS = [_JSON] + [f"{_JSON};as={view}{_META}{version}" for view in ("Table", "PartialObjectMetadataList") for version in ("v1", "v1beta1")]

_CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}
_METRICS = [
    {"type": "Resource", "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}}},
    {"type": "Pods", "pods": {"metric": {"name": "rps", "selector": {"matchLabels": {"a": "b"}}}, "target": {"type": "AverageValue", "averageValue": "7"}}},
    {"type": "Object", "object": {"describedObject": {"kind": "Service", "name": "s", "apiVersion": "v1"}, "metric": {"name": "m"},
                                  "target": {"type": "Value", "value": "10k"}}},
    {"type": "Object", "object": {"describedObject": {"kind": "Service", "name": "s", "apiVersion": "v1"}, "metric": {"name": "n"},
                                  "target": {"type": "AverageValue", "averageValue": "500m"}}},
    {"type": "External", "external": {"metric": {"name": "q", "selector": {"matchLabels": {"x": "<y>"}}}, "target": {"type": "Value", "value": "9"}}},
    {"type": "External", "external": {"metric": {"name": "r"}, "target": {"type": "AverageValue", "averageValue": "3"}}},
    {"type": "ContainerResource", "containerResource": {"name": "cpu", "container": "c", "target": {"type": "Utilization", "averageUtilization": 3}}},
]
_PREFIX = "autoscaling.alpha.kubernetes.io/"

# Version, spec and annotations.
AUTOSCALERS = [
    ("v1", {}, {}),
    ("v1", {"minReplicas": 2, "targetCPUUtilizationPercentage": 70}, {"note": "x"}),
    ("v2", {}, {}),
    ("v2", {"metrics": [_CPU]}, {"note": "x"}),
    ("v2", {"metrics": _METRICS}, {}),
    ("v2", {"metrics": [_METRICS[0], _CPU, _METRICS[1]]}, {}),
    ("v2", {"behavior": {"scaleDown": {"selectPolicy": "Min"}}}, {}),
    ("v2", {"behavior": {"scaleUp": {"stabilizationWindowSeconds": 30, "policies": [{"type": "Pods", "value": 1, "periodSeconds": 60}]}}}, {}),
    ("v2", {}, {_PREFIX + "metrics": "[]", _PREFIX + "behavior": "{}"}),
    ("v1", {}, {_PREFIX + "metrics": '[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"2Gi"}}]'}),
    ("v1", {"targetCPUUtilizationPercentage": 5}, {_PREFIX + "metrics": '[{"type":"Pods","pods":{"metricName":"p","targetAverageValue":"4"}}]'}),
]

_CURRENT = [{"type": "Resource", "resource": {"name": "cpu", "current": {"averageValue": "200m", "averageUtilization": 40}}},
            {"type": "Pods", "pods": {"metric": {"name": "rps"}, "current": {"averageValue": "6"}}}]
_CONDITIONS = [{"type": "AbleToScale", "status": "True", "lastTransitionTime": "2026-01-02T03:04:05Z", "reason": "R", "message": "a & b"}]

# Version, subresource and merge patch, one after the other for each autoscaler.
PATCHES = [
    ("v2", "/status", {"status": {"currentReplicas": 2, "desiredReplicas": 3, "currentMetrics": _CURRENT, "conditions": _CONDITIONS}}),
    ("v1", "", {"spec": {"maxReplicas": 9}}),
    ("v1", "", {"metadata": {"annotations": None}}),
    ("v1", "/status", {"status": {"currentReplicas": 4, "currentCPUUtilizationPercentage": 33}, "spec": {"maxReplicas": 50}}),
    ("v2", "", {"spec": {"metrics": [_CPU]}, "metadata": {"labels": {"a": "b"}}}),
    ("v1", "", {"spec": {"targetCPUUtilizationPercentage": None}}),
]

_STRING = {"type": "string"}
_FOO = {"type": "object", "description": "Foo of a test", "properties": {
    "spec": {"type": "object", "description": "What is wanted", "properties": {
        "bars": {"type": "array", "description": "Bars.", "items": {"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string", "description": "Its name."}, "age": _STRING, "feeling": {"type": "string", "enum": ["Great", "Down"]},
            "bazs": {"type": "array", "items": _STRING}}}}}},
    "status": {"type": "object", "properties": {"ok": {"type": "boolean"}, "type": {"type": "string", "pattern": "in|out"}}}}}

SCHEMAS = [
    _FOO,
    {"type": "object"},
    {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"spec": {"type": "object"}}},
    {"type": "object", "properties": {"spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "description": "open",
                                               "properties": {"a": _STRING, "list": {"type": "array", "items": _STRING}}}}},
    {"type": "object", "properties": {"port": {"x-kubernetes-int-or-string": True, "description": "either"},
                                      "any": {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}}},
    {"type": "object", "required": ["n", "m"], "properties": {"n": {"type": "string", "nullable": True}, "m": {"type": "integer", "format": "int64", "default": 5},
                                                              "o": {"type": "object", "nullable": True, "properties": {"x": _STRING}}}},
    {"type": "object", "properties": {"map": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1, "maximum": 9.5}},
                                      "open": {"type": "object", "additionalProperties": True}}},
    {"type": "object", "properties": {"inner": {"type": "object", "x-kubernetes-embedded-resource": True, "properties": {"spec": {"type": "object"}}},
                                      "raw": {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}}},
    {"type": "object", "properties": {"list": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
                                               "items": {"type": "object", "required": ["k"], "properties": {"k": _STRING}}},
                                      "set": {"type": "array", "x-kubernetes-list-type": "set", "items": _STRING, "maxItems": 3},
                                      "whole": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"a": _STRING}}}},
    {"type": "object", "properties": {"a": {"type": "string", "minLength": 1, "maxLength": 5, "allOf": [{"pattern": "^a"}], "not": {"enum": ["b"]}, "title": "T", "example": "x"},
                                      "b": {"type": "string", "format": "date-time"}, "c": {"type": "string", "format": "odd"}},
     "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
]


def definition(group, kind, schema):
    """A CustomResourceDefinition with one version."""
    plural = kind.lower() + "s"
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{plural}.{group}"},
            "spec": {"group": group, "scope": "Namespaced", "names": {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": kind + "List"},
                     "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]}}
