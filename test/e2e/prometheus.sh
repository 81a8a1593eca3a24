# Debian's Prometheus, scraping the operator in the cluster. To be sourced after lib.sh.
# shellcheck shell=bash disable=SC2154

prometheus_process=
# Under /tmp, since Prometheus keeps what it scrapes; taken away by stop_prometheus.
prometheus_folder=

start_prometheus() {
  local port
  "$kx_top/hack/deps" e2e
  prometheus_folder=$(mktemp -d)
  cp "$kx_top/helm/kubexx-reloader/files/alerts.yaml" "$prometheus_folder/"
  sed "s|FOLDER|$prometheus_folder|" "$kx_top/test/e2e/prometheus.yml" >"$prometheus_folder/prometheus.yml"
  list_targets
  promtool check config "$prometheus_folder/prometheus.yml" >"$prometheus_folder/check.log" || fail "the configuration: $(cat "$prometheus_folder/check.log")"
  port=$(free_port 9190)
  prometheus_url=http://127.0.0.1:$port
  prometheus --config.file "$prometheus_folder/prometheus.yml" --storage.tsdb.path "$prometheus_folder/data" \
    --web.listen-address "127.0.0.1:$port" --log.level warn >"$prometheus_folder/prometheus.log" 2>&1 &
  prometheus_process=$!
}

# The operator's pods that there are now, labelled as a PodMonitor of the chart would.
list_targets() {
  kubectl get pods -A -l app.kubernetes.io/name=reloader -o json | jq '[.items[] | select(.status.podIP != null) | {
    targets: [.status.podIP + ":9090"],
    labels: {namespace: .metadata.namespace, pod: .metadata.name, job: .metadata.labels.app}}]' >"$prometheus_folder/targets.new"
  mv "$prometheus_folder/targets.new" "$prometheus_folder/targets.json"
}

stop_prometheus() {
  [ -n "$prometheus_process" ] || return 0
  kill "$prometheus_process" 2>/dev/null || true
  wait "$prometheus_process" 2>/dev/null || true
  rm -rf "$prometheus_folder"
  prometheus_process=
}

prometheus_query() { curl -fsG "$prometheus_url/api/v1/query" --data-urlencode "query=$1"; }
scrapes() { [ "$(prometheus_query "count(up{job=\"$1\"} == 1)" | jq -r '.data.result[0].value[1]')" = "$2" ]; }

# Every rule of the chart is loaded and has been evaluated without an error.
rules_are_healthy() {
  curl -fs "$prometheus_url/api/v1/rules" | jq -e --argjson wanted "$(grep -c 'alert:' "$prometheus_folder/alerts.yaml")" \
    '[.data.groups[].rules[]] | length == $wanted and all(.health == "ok")'
}
