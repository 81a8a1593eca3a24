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
  render_monitors
  {
    sed "s|FOLDER|$prometheus_folder|" "$kx_top/test/e2e/prometheus.yml"
    translate config "$prometheus_folder"
  } >"$prometheus_folder/prometheus.yml"
  list_targets
  promtool check config "$prometheus_folder/prometheus.yml" >"$prometheus_folder/check.log" || fail "the configuration: $(cat "$prometheus_folder/check.log")"
  port=$(free_port 9190)
  prometheus_url=http://127.0.0.1:$port
  prometheus --config.file "$prometheus_folder/prometheus.yml" --storage.tsdb.path "$prometheus_folder/data" \
    --web.listen-address "127.0.0.1:$port" --log.level warn >"$prometheus_folder/prometheus.log" 2>&1 &
  prometheus_process=$!
}

# The releases' own monitors: of the first a ServiceMonitor, of the others PodMonitors. No cluster here has their CRDs, so
# they are rendered as for one that has.
render_monitors() {
  local release namespace kind
  while read -r release namespace kind; do
    helm get values "$release" -n "$namespace" -o yaml |
      helm template "$release" "$kx_top/helm/kubexx-reloader" -n "$namespace" --kube-version 1.33.0 \
        --api-versions monitoring.coreos.com/v1 --show-only templates/monitors.yaml --values - \
        --set "reloader.$kind.enabled=true" >"$prometheus_folder/$release.monitor.yaml"
  done < <(helm list -A -o json | jq -r '.[] | "\(.name) \(.namespace) " + (if .name == "reloader" then "serviceMonitor" else "podMonitor" end)')
}
translate() {
  local command=$1 folder=$2
  shift 2
  /usr/bin/python3 "$kx_top/test/e2e/monitors.py" "$command" "$folder" "$@" "$prometheus_folder"/*.monitor.yaml
}

# What the monitors select now.
list_targets() {
  kubectl get pods,services,endpointslices -A -o json >"$prometheus_folder/objects.json"
  translate targets "$prometheus_folder" "$prometheus_folder/objects.json"
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
