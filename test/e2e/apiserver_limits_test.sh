#!/usr/bin/env bash
# kubexx-apiserver where it may open few files: idle connections, requests that are too large and clients that never end theirs
# neither keep others out nor leave anything behind. The rules have unit tests; this one is of the program and its process.
set -euo pipefail
# shellcheck source=../../hack/lib/common.sh
. "$(dirname "$0")/../../hack/lib/common.sh"
# shellcheck source=apiserver.sh
. "$kx_root/test/e2e/apiserver.sh"

# The server as it is started by a login that may open 64 files.
cat >"$work/few" <<F
#!/usr/bin/env bash
ulimit -n 64
exec "$program" "\$@"
F
chmod +x "$work/few"
program=$work/few

descriptors() { find "/proc/$server/fd" -mindepth 1 2>/dev/null | wc -l; }
url() { k config view --raw -o 'jsonpath={.clusters[0].cluster.server}'; }
healthy() { [ "$(curl -sk --max-time 5 "$1/healthz")" = ok ]; }
# crowd WHAT: opens 90 connections, which begin as WHAT says, and keeps them until it is killed.
crowd() {
  /usr/bin/python3 - "$(url)" "$1" >"$work/crowd" <<'P' &
import socket, ssl, sys, time
url, what = sys.argv[1:]
host, port = url.removeprefix("https://").split(":")
context = ssl._create_unverified_context()
begins = {"silence": None, "handshakes": b"", "headers": b"GET /api HTTP/1.1\r\nHost: localhost\r\nX-A: ",
          "bodies": b"POST /api/v1/namespaces HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{"}
kept = []
for _ in range(90):
    try:
        connection = socket.create_connection((host, int(port)), timeout=5)
        if begins[what] is not None:
            connection = context.wrap_socket(connection)
            connection.sendall(begins[what])
        kept.append(connection)
    except OSError:
        pass  # It may be refused: what counts is that others are not.
print(len(kept), flush=True)
time.sleep(600)
P
  crowd=$!
  wait_for 60 "connections ($1)" test -s "$work/crowd" || fail "waited 60 s in vain for connections ($1)"
}

start
address=$(url)
k create configmap before >/dev/null
before=$(descriptors)
for what in silence handshakes headers bodies; do
  log "90 connections: $what"
  crowd "$what"
  for _ in $(seq 20); do healthy "$address" || fail "not healthy beside 90 connections ($what)"; done
  is configmap/before get configmap before -o name
  kill "$crowd"
  wait "$crowd" || true
  closed() { [ "$(descriptors)" -le "$((before + 4))" ]; }
  wait_for 20 "the end of the connections ($what)" closed || fail "waited 20 s in vain for the end of the connections ($what)"
done

log "a header over 64 KiB, which a request may have"
printf 'x-large: %070000d\n' 0 >"$work/large"
for _ in $(seq 20); do
  code=$(curl -sk --max-time 5 -o /dev/null -w '%{http_code}' -H "@$work/large" "$address/api" || true)
  [ "$code" = 401 ] || fail "a header of 70,000 bytes from a stranger: $code, wanted 401"
done
# curl stops in the middle of a header as large as this.
answer=$(/usr/bin/python3 - "$address" <<'P'
import socket, ssl, sys
host, port = sys.argv[1].removeprefix("https://").split(":")
with ssl._create_unverified_context().wrap_socket(socket.create_connection((host, int(port)), timeout=5)) as connection:
    connection.sendall(b"GET /api HTTP/1.1\r\nHost: localhost\r\nX-Large: " + b"x" * 200_000 + b"\r\n\r\n")
    print(connection.recv(100).split(b"\r")[0].decode())
P
) || fail "no answer to a header of 200,000 bytes"
[[ $answer == "HTTP/1.1 431 "* ]] || fail "a header of 200,000 bytes: $answer, wanted 431"
wait_for 20 "the end of the connections" closed || fail "waited 20 s in vain for the end of the connections"
log "an unknown field whose name is longer than a header may be"
printf '{"metadata":{"name":"long"},"%070000d":1}' 0 >"$work/field"
token=$(k config view --raw -o 'jsonpath={.users[0].user.token}')
code=$(curl -sk --max-time 5 -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $token" -H 'Content-Type: application/json' \
  --data-binary "@$work/field" "$address/api/v1/namespaces/default/configmaps?fieldValidation=Warn")
[ "$code" = 201 ] || fail "an unknown field with a long name: $code, wanted 201"
wait_for 20 "the end of the connection" closed || fail "waited 20 s in vain for the end of the connection"
healthy "$address" || fail "not healthy afterwards"
is configmap/long get configmap long -o name
stop
log "PASSED"
