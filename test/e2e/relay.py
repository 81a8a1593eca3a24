#!/usr/bin/env python3
"""relay.py PORT LOG: hands on what HTTP clients and the HTTPS server on 127.0.0.1:PORT say to each other. Writes the method and the
target of each request to LOG, a line each, before the server gets it. Prints its own port, and ends with its standard input."""
import asyncio
import ssl
import sys


async def hand_on(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    writer.close()


async def hand_on_requests(reader, writer, log):
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            request, *fields = head.decode("latin-1").split("\r\n")
            length = 0
            for field in fields:
                name, _, value = field.partition(":")
                if name.lower() == "transfer-encoding":
                    sys.exit("a request without a length")
                if name.lower() == "content-length":
                    length = int(value)
            print(request.rsplit(" ", 1)[0], file=log, flush=True)
            writer.write(head + await reader.readexactly(length))
            await writer.drain()
    except (OSError, asyncio.IncompleteReadError):
        pass
    writer.close()


async def main():
    port, path = int(sys.argv[1]), sys.argv[2]
    # Of the test's own server.
    unverified = ssl.create_default_context()
    unverified.check_hostname = False
    unverified.verify_mode = ssl.CERT_NONE
    with open(path, "a", encoding="latin-1") as log:

        async def connect(reader, writer):
            try:
                server_reader, server_writer = await asyncio.open_connection("127.0.0.1", port, ssl=unverified)
            except OSError:
                writer.close()
                return
            await asyncio.gather(hand_on_requests(reader, server_writer, log), hand_on(server_reader, writer))

        server = await asyncio.start_server(connect, "127.0.0.1", 0)
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(main())
