"""The differences between kube-apiserver and kubexx-apiserver that are known, each with its reason; docs/apiserver.md has
them for readers. Whatever is not here fails the test."""

import re
from dataclasses import dataclass


@dataclass
class Known:
    """Differences at paths that match `path`, in answers to requests that match the rest; all are regular expressions for the
    whole text. `code` is "REAL/OURS"."""
    why: str
    path: str
    verb: str = ".*"
    resource: str = ".*"
    url: str = ".*"
    code: str = ".*"
    real: str = "(?s).*"
    ours: str = "(?s).*"

    def covers(self, request, code, difference):
        path, real, ours = difference
        return all(re.fullmatch(pattern, text) for pattern, text in (
            (self.path, path), (self.verb, request.verb), (self.resource, request.resource), (self.url, request.path), (self.code, code),
            (self.real, str(real)), (self.ours, str(ours))))


# All of an answer: for those whose code differs.
ANY = r"\..*"

KNOWN = [
    Known("errors are in words of our own; code, reason and the object that they are about are the same",
          r"\.body\.message", code=r"[45]../[45].."),
    Known("an invalid object is described in words of our own", r"\.body\.details\.causes.*", code="422/422"),
    Known("empty details of an error are left out", r"\.body\.details", real=r"\{\}", ours=r"\(absent\)"),
    Known("an error about the parameters of a list or watch has no details", r"\.body\.details", verb="list|watch", code="422/422"),
    Known("a resourceVersion that cannot be is the client's fault, not the server's", r"\.code|\.body\.(code|reason|message|details)",
          code="500/400"),
    Known("answers are JSON or protobuf", ANY, verb="list", code="(200|400|422)/406"),
    Known("of several faults of a request another one is told", ANY, verb="list", code="400/422|422/400"),
    Known("a patch that is no patch is refused before its object is looked for", ANY, verb="patch.*", code="404/4(00|15|22)"),
    Known("an empty page of a list has an empty array, not null", r"\.body\.items", verb="list", real="None", ours=r"\[\]"),
    Known("an object that a patch has made wrong is described in words of our own", r"\.body\.details.*", verb="patch", code="422/422"),
    Known("a bad Scale is described in words of our own", r"\.body\.details.*", resource=".*/scale", code="422/422"),
    Known("with a selector, a page after which nothing follows has no continue token", r"\.body\.metadata\.continue", verb="list", ours=r"\(absent\)"),
    Known("an update of a Lease without a version names the kind", r"\.body\.details\.kind", resource="leases", code="422/422"),
    Known("changed labels and annotations of an EndpointSlice are no new generation", r".*\.metadata\.generation", resource="endpointslices"),
    Known("a list of what is not older than a version comes whole, whatever the limit", r"\.body\.(items|metadata)(\..*)?", verb="list",
          url=r".*limit=.*NotOlderThan.*"),
    Known("a dry run of a deletion that would wait answers with the object as it is",
          r"\.body\.metadata\.(deletionTimestamp|deletionGracePeriodSeconds|generation)", verb="delete", url=r".*dryRun=All"),
    Known("a conflict names the resource, not the kind", r"\.body\.details\.kind", code="409/409"),
    Known("the metadata alone of a DaemonSet has the annotation that counts its templates, too",
          r".*\.metadata\.annotations(\.deprecated\.daemonset\.template\.generation)?", resource="daemonsets", real=r"\(absent\)",
          ours=r"\{'deprecated\.daemonset\.template\.generation': '\d+'\}|\d+"),
    Known("what is below no known group is answered with a Status, not with text", r"\.(type|body.*)", code="404/404", resource="nowhere"),
]


def unknown(request, code, found):
    """Those of the differences found in an answer that are not known."""
    return [one for one in found if not any(known.covers(request, code, one) for known in KNOWN)]
