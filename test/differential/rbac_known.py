"""The differences of rbac.py that are known, each with its reason; docs/apiserver.md has them for readers."""

import re

from known import Known

NOT_SERVED = r"pods/(log|exec|proxy.*)|services/proxy|nodes/proxy"

KNOWN = [
    Known("empty details of an error are left out", r"\.details", real=r"\{\}", ours="None"),
    Known("health and version are told everybody, by any method", r"\..*", url=r"/(healthz|livez|readyz|version/?)", code="40[135]/200"),
    Known("discovery is also told by HEAD", r"\.code", verb="head", url=r"/(apis?|openapi)(/.*)?", code="405/200"),
    Known("the rules of an aggregated ClusterRole are not written into it", r"\.message", verb="update|patch", url=r".*/clusterroles/[^/]*-sum-.*",
          code="403/403", real=r"(?s).* is attempting to grant .*"),
    Known("there is no list of paths", r"\.(code|reason)", url="/", code="200/404"),
    Known("these subresources are not served", r"\.(code|reason)", resource=NOT_SERVED, code="[245]../404"),
    Known("what is below no known group is answered with a Status, not with text", r"\.reason", code="404/404", real=r"\(absent\)"),
    Known("of a namespace that is not there, or the right to create in it, one is missing first", r"\..*", verb="patch", url=r".*/namespaces/nowhere/.*",
          code="404/403"),
    Known("a binding to what is no kind of role is the client's fault, not the server's", r"\.(code|reason)", resource="bindings",
          code="500/(404|422)"),
]


def unknown(request, code, found):
    """Those of the differences found in an answer that are not known."""
    # Only which right is missing first: constrained impersonation, which is not served, would have asked for others.
    constrained = any(path == ".message" and re.search("cannot impersonate(-on)?:", str(real)) and "cannot impersonate resource" in str(ours) for path, real, ours in found)
    if constrained and code == "403/403":
        found = [one for one in found if one[0] != ".message" and not one[0].startswith(".details")]
    return [one for one in found if not any(known.covers(request, code, one) for known in KNOWN)]
