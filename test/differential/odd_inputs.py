"""Makes objects that kube-apiserver refuses, and some that are odd and good, and compares which fields both servers refuse and how. forms.py calls it.

Not among them: what only its admission plugins refuse, and what differs in Go but not once an object has its canonical form, such as an
empty selector from none.
"""

import json

import odd_objects
import odd_pods
from validation import refused_or


def _set(spec, path, value):
    """A copy of `spec` with `value` at `path`."""
    first, _, rest = path.partition(".")
    return {**spec, first: _set(spec.get(first) or {}, rest, value) if rest else value}


def _pods():
    container = {"name": "c", "image": "i"}
    plain = {"automountServiceAccountToken": False, "containers": [container], "volumes": [{"name": "v", "emptyDir": {}}]}
    for path, values in odd_pods.CONTAINERS.items():
        yield from (plain | {"containers": [_set(container, path, value)]} for value in values)
    for path, values in odd_pods.SPECS.items():
        yield from (_set(plain, path, value) for value in values)
    yield from (plain | {"volumes": [{"name": "v"} | value]} for value in odd_pods.VOLUMES)
    yield from (plain | members for members in odd_pods.TOGETHER)


def _of(version, plural, namespace):
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    return f"{root}/namespaces/{namespace}/{plural}?dryRun=All" if namespace else f"{root}/{plural}?dryRun=All"


def _inputs(namespace):
    """What each is, where it is made, and the object."""
    for spec in _pods():
        yield f"a pod with {json.dumps(spec)[:300]}", _of("v1", "pods", namespace), {"metadata": {"name": "odd"}, "spec": spec}
    for version, plural, namespaced, of_spec, plain, changes in odd_objects.OBJECTS:
        for change in changes:
            members = {"spec": plain | change} if of_spec else plain | change
            yield f"{plural} with {json.dumps(change)[:300]}", _of(version, plural, namespaced and namespace), {"metadata": {"name": "odd"}} | members
    plain = {(version, plural): {"spec": spec} if of_spec else spec for version, plural, _, of_spec, spec, _ in odd_objects.OBJECTS}
    plain["networking.k8s.io/v1", "ingresses"] = {"spec": {"rules": [{"host": "a.b"}]}}
    for version, plural, namespaced, length in odd_objects.NAMES:
        yield f"{plural} with {length} letters", _of(version, plural, namespaced and namespace), {"metadata": {"name": "n" * length}} | plain.get((version, plural), {})


def compare_odd_inputs(comparison, namespace):
    for what, path, body in _inputs(namespace):
        comparison.both(what, lambda side, p=path, b=body: refused_or(side.ask("POST", p, b), lambda made: None))
