"""A port for a server that a script is about to start. Imported by benchmarks and tests."""

import random
import socket


def free_port():
    """A port of 127.0.0.1 that was free a moment ago, and that the kernel gives to no outgoing connection."""
    while True:
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", random.randrange(20000, 32000)))
            except OSError:
                continue
            return one.getsockname()[1]
