"""Protobuf of an API server, read without its messages: which fields there are."""


def fields(message):
    """(number, value) of each field, in order; the value is a number, or bytes."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        if key & 7 == 0:
            value, at = _varint(message, at)
        elif key & 7 == 2:
            size, at = _varint(message, at)
            value, at = message[at:at + size], at + size
        else:
            raise ValueError(f"wire type {key & 7}")
        yield key >> 3, value


def _varint(message, at):
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def envelope(raw):
    """apiVersion, kind and message of an object."""
    if raw[:4] != b"k8s\0":
        raise ValueError(f"no envelope: {raw[:40]!r}")
    found = dict(fields(raw[4:]))
    type_meta = dict(fields(found[1]))
    return type_meta[1].decode(), type_meta[2].decode(), found[2]


def shape(message, depth=2):
    """The numbers of the fields, down to `depth`: what two servers have alike, whatever uids and times they give."""
    return [(number, shape(value, depth - 1) if depth > 1 and isinstance(value, bytes) and _is_message(value) else None)
            for number, value in fields(message)]


def _is_message(value):
    try:
        return bool(value) and all(0 < number < 64 for number, _ in fields(value))
    except (ValueError, IndexError):
        return False


def watch_frames(raw):
    """(type, object) of each event of a watch in protobuf."""
    at = 0
    while at < len(raw):
        size = int.from_bytes(raw[at:at + 4], "big")
        event = dict(fields(raw[at + 4:at + 4 + size]))
        yield event[1].decode(), dict(fields(event[2]))[1]
        at += 4 + size
