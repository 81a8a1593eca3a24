"""What a server has said, without what may differ between two servers: versions, uids, times, generated names."""

import re

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
PLACEHOLDER = re.compile(r"\{(version|uid):([^{}]+)\}|\{(start|continue)\}")


class Memory:
    """What placeholders mean for one server, and names for the versions and uids that it has given."""

    def __init__(self):
        self.start = "0"
        self.next_page = "none"
        self._objects = {}  # (resource, name): metadata
        self._names = {}  # a version or uid: its name

    def fill(self, text):
        """`text` with its placeholders replaced by what this server has said."""
        def value(found):
            if found[3]:
                return self.start if found[3] == "start" else self.next_page
            metadata = self._objects.get(tuple(found[2].split("/")), {})
            return metadata.get("resourceVersion" if found[1] == "version" else "uid", "1")
        return PLACEHOLDER.sub(value, text)

    def learn(self, request, answer):
        """Remembers the object or list that was answered."""
        body = answer.body if isinstance(answer.body, dict) else {}
        metadata = body.get("metadata") or {}
        # With a selector one of the servers may know that nothing follows.
        if metadata.get("continue") and "Selector" not in request.path:
            self.next_page = metadata["continue"]
        if answer.code < 300 and "name" in metadata and body.get("kind") != "Status":
            self._objects[(request.resource.split("/")[0], metadata["name"])] = metadata
            if request.resource == "namespaces":
                self.start = metadata["resourceVersion"]

    def _named(self, kind, value):
        return self._names.setdefault((kind, value), f"<{kind} {len([k for k in self._names if k[0] == kind]) + 1}>")

    def _metadata(self, metadata, is_list):
        known = dict(metadata)
        known.pop("managedFields", None)  # Server-side apply has tests of its own.
        if "resourceVersion" in known:
            # That of a list counts the writes of everybody.
            known["resourceVersion"] = "<of a list>" if is_list else self._named("version", known["resourceVersion"])
        if "uid" in known:
            known["uid"] = self._named("uid", known["uid"])
        if "continue" in known:
            known["continue"] = "<continue>"
        return known

    def _text(self, text):
        text = UUID.sub(lambda found: self._named("uid", found[0]), text)
        return TIME.sub("<time>", text)

    def normal(self, value):
        """The comparable form of a body."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self.normal(one) for one in value]
        if not isinstance(value, dict):
            return value
        plain = {}
        for key, one in value.items():
            if key == "metadata" and isinstance(one, dict):
                one = self._metadata(one, "items" in value or "rows" in value)
            plain[key] = self.normal(one)
        return plain


def differences(real, ours, path=""):
    """Where two values differ: (path, in the real server's, in ours)."""
    if isinstance(real, dict) and isinstance(ours, dict):
        found = []
        for key in sorted(real.keys() | ours.keys()):
            found += differences(real.get(key, ABSENT), ours.get(key, ABSENT), f"{path}.{key}")
        return found
    if isinstance(real, list) and isinstance(ours, list) and len(real) == len(ours):
        return [one for i, pair in enumerate(zip(real, ours)) for one in differences(*pair, f"{path}[{i}]")]
    return [] if real == ours and type(real) is type(ours) else [(path, real, ours)]


class _Absent:
    def __repr__(self):
        return "(absent)"


ABSENT = _Absent()
