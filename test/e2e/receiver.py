#!/usr/bin/env python3
"""receiver.py PORT FILE: takes POSTs on every address and appends "PATH BODY" of each to FILE, one line each."""
import http.server
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):  # the name is http.server's
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        with open(sys.argv[2], "a", encoding="utf-8") as file:
            file.write(f"{self.path} {body}\n")
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("", int(sys.argv[1])), Handler).serve_forever()
