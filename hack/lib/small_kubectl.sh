# The few kubectl commands of hack/demo over curl, for machines without kubectl. To be sourced.
# shellcheck shell=bash

# The URL of an API server that asks for no credentials.
small_kubectl_url=

# From here on `kubectl` is the function below.
# shellcheck disable=SC2317
use_small_kubectl() {
  kubectl() { small_kubectl "$@"; }
}

small_kubectl() {
  case "$1 $2" in
    "apply -f") small_apply "$3" ;;
    "get replicasets") small_table "$(small_path replicasets)?labelSelector=$4" ;;
    "get "*) small_call "$(small_path "${2}s")/$3" ;;
    "patch "*)
      small_call "$(small_path "${2}s")/$3" -X PATCH -H 'Content-Type: application/merge-patch+json' -d "$7" -o /dev/null
      echo "$2/$3 patched"
      ;;
    "rollout status") small_rollout_status "${3#*/}" ;;
    *) die "there is no kubectl here, and 'kubectl $*' is not known without it" ;;
  esac
}

small_call() { curl -fsS "$small_kubectl_url$1" "${@:2}"; }
small_path() {
  case $1 in
    deployments | replicasets) echo "/apis/apps/v1/namespaces/default/$1" ;;
    *) echo "/api/v1/namespaces/default/$1" ;;
  esac
}

# Creates the objects of a file, each of them a YAML document.
small_apply() {
  local document kind
  while IFS= read -r -d $'\x1e' document; do
    kind=$(sed -n 's/^kind: //p' <<<"$document")
    small_call "$(small_path "${kind,,}s")" -H 'Content-Type: application/yaml' --data-binary "$document" -o /dev/null
    echo "${kind,,} created"
  done < <(sed 's/^---$/\x1e/' "$1"; printf '\x1e')
}

# A list as the server's own table of it.
small_table() {
  small_call "$1" -H 'Accept: application/json;as=Table;v=v1;g=meta.k8s.io' |
    grep -oE '"cells":\[[^]]*\]' | tr -d '"[]' | sed 's/^cells://' | cut -d, -f1-4 |
    awk -F, 'BEGIN { printf "%-24s %-8s %-8s %s\n", "NAME", "DESIRED", "CURRENT", "READY" } { printf "%-24s %-8s %-8s %s\n", $1, $2, $3, $4 }'
}

small_rollout_status() {
  local said='' now
  while :; do
    now=$(small_call "$(small_path deployments)/$1" | tr -d '\n' |
      grep -oE '"(updatedReplicas|availableReplicas|replicas|observedGeneration|generation)":[0-9]+' | sort -u | tr '\n' ' ')
    if small_is_done "$now"; then break; fi
    [ "$now" = "$said" ] || echo "Waiting for deployment \"$1\" rollout to finish: ${now//\"/}"
    said=$now
    sleep 0.2
  done
  echo "deployment \"$1\" successfully rolled out"
}

# small_is_done NUMBERS: whether spec, status and generations agree. Every name stands once when all its values are the same.
small_is_done() {
  local numbers=$1 replicas
  replicas=$(grep -oE '"replicas":[0-9]+' <<<"$numbers" | cut -d: -f2)
  [[ $replicas != *$'\n'* ]] && [[ $numbers == *"\"updatedReplicas\":$replicas "* ]] && [[ $numbers == *"\"availableReplicas\":$replicas "* ]] &&
    [ "$(grep -oE '"generation":[0-9]+' <<<"$numbers" | cut -d: -f2)" = "$(grep -oE '"observedGeneration":[0-9]+' <<<"$numbers" | cut -d: -f2)" ]
}
