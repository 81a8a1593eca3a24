# The page of `kubexx-reloader ui` beside an operator. To be sourced after operator.sh.
# shellcheck shell=bash disable=SC2154

"$kx_root/hack/deps" e2e
ui=

end_ui() {
  local status=$?
  [ -z "$ui" ] || kill -9 "$ui" 2>/dev/null || true
  [ "$status" -eq 0 ] || tail -n 20 "$work"/ui.log >&2 || true
  set +e
  (exit "$status")
  end_all
}
trap end_ui EXIT
status_of() { curl -sk --max-time 20 -o "$work/answer" -w '%{http_code}' "$@"; }
