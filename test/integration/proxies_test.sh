#!/usr/bin/env bash
# Sends a client's requests, lists and watches through real proxies, with TLS to the API server: tinyproxy (HTTP), tinyproxy behind
# stunnel (https), MicroSocks and Dante (SOCKS5). All but Dante want a user and a password. The client has to be told why where it has none
# or wrong ones, and where it does not trust the certificate.
#
# Environment: KUBEXX_BUILD_DIR has the client, KUBEXX_TEST_KUBECONFIG names the server.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=../../hack/lib/common.sh
. "$root/hack/lib/common.sh"
# shellcheck source=../../hack/lib/cluster_settings.sh
. "$root/hack/lib/cluster_settings.sh"
: "${KUBEXX_BUILD_DIR:?}" "${KUBEXX_TEST_KUBECONFIG:?}"
"$root/hack/deps" proxies
work=$(mktemp -d)
chmod 755 "$work" # Dante's user reads it
pids=()
finish() {
  local status=$?
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  [ "$status" -eq 0 ] || tail -n 20 "$work"/*.log >&2 || true
  rm -rf "$work"
  exit "$status"
}
trap finish EXIT
export PATH=$PATH:/usr/sbin
user=me password=s3cret

# Not from the range that the kernel gives to clients. Two that ask at the same time may get the same: each asks far from the others.
port() { free_port $((20000 + RANDOM % 12000)); }
http_port=$(port) https_port=$(port) socks_port=$(port) dante_port=$(port)
listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
start() { # start NAME PORT COMMAND...
  local name=$1 port=$2
  shift 2
  "$@" >"$work/$name.log" 2>&1 &
  pids+=($!)
  wait_for 20 "$name" listens "$port" || die "$name does not start"
}

cat >"$work/tinyproxy.conf" <<CONF
Port $http_port
Listen 127.0.0.1
Timeout 600
MaxClients 50
Allow 127.0.0.1
BasicAuth $user $password
CONF
start tinyproxy "$http_port" tinyproxy -d -c "$work/tinyproxy.conf"

# The proxy's certificate is of an authority of its own.
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=the proxy's" \
  -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout "$work/proxy.key" -out "$work/proxy.crt" 2>/dev/null
cat >"$work/stunnel.conf" <<CONF
foreground = yes
pid =
[proxy]
accept = 127.0.0.1:$https_port
connect = 127.0.0.1:$http_port
cert = $work/proxy.crt
key = $work/proxy.key
CONF
start stunnel "$https_port" stunnel4 "$work/stunnel.conf"

start microsocks "$socks_port" microsocks -i 127.0.0.1 -p "$socks_port" -u "$user" -P "$password"

# Dante knows the users of the system alone, and none of them has a password: it asks for none.
cat >"$work/danted.conf" <<CONF
logoutput: stdout
internal: 127.0.0.1 port = $dante_port
external: lo
clientmethod: none
socksmethod: none
user.unprivileged: nobody
client pass { from: 127.0.0.1/32 to: 0.0.0.0/0 }
socks pass { from: 127.0.0.1/32 to: 127.0.0.1/32 command: connect }
CONF
start dante "$dante_port" danted -f "$work/danted.conf" -p "$work/danted.pid"

# talk PROXY_URL: runs the client with that proxy.
talk() {
  /usr/bin/python3 - "$KUBEXX_TEST_KUBECONFIG" "$1" >"$work/kubeconfig" <<'END'
import sys, yaml
with open(sys.argv[1], encoding="utf-8") as file:
    config = yaml.safe_load(file)
for each in config["clusters"]:
    each["cluster"]["proxy-url"] = sys.argv[2]
yaml.safe_dump(config, sys.stdout)
END
  KUBEXX_TEST_KUBECONFIG=$work/kubeconfig "$KUBEXX_BUILD_DIR/bin/through_proxy" default 2>&1 || true
}
expect() { # expect PROXY_URL PATTERN: the client ends with it
  local got
  got=$(talk "$1")
  grep -qE -- "$2" <<<"$got" || die "through $1: expected '$2', got '$got'"
  ! grep -qF -e "$password" -e 's3cre%74' -e WRONG <<<"$got" || die "the error has the password"
  echo "$1: $got"
}

me=$user:s3cre%74
export SSL_CERT_FILE=$work/proxy.crt # the system's authorities
expect "http://$me@127.0.0.1:$http_port" '^ok$'
expect "https://$me@127.0.0.1:$https_port" '^ok$'
expect "https://$me@localhost:$https_port" '^ok$'
expect "socks5://$me@127.0.0.1:$socks_port" '^ok$'
expect "socks5h://127.0.0.1:$dante_port" '^ok$'

expect "https://127.0.0.1:$https_port" "refused a tunnel: 407.*write its user and password.*\(proxy https://127.0.0.1:$https_port\)"
expect "https://$user:WRONG@127.0.0.1:$https_port" 'refused a tunnel: 40[17].*; check the user and password.*\(proxy https:'
expect "socks5://$user:WRONG@127.0.0.1:$socks_port" 'refused the user or the password; check'
expect "socks5://127.0.0.1:$socks_port" 'wants to know who asks'
expect "http://127.0.0.1:$dante_port" "(answer is not HTTP|closed the connection).*\(proxy http:"
unset SSL_CERT_FILE
expect "https://$me@127.0.0.1:$https_port" "neither the system's authorities nor the config's have signed the proxy's certificate"
