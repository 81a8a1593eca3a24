#!/usr/bin/env bash
# cluster_up.sh NAME: brings a cluster up for the integration tests. Its API server is started twice, so that there is a history
# that it does not have in its memory: watches from the beginning have expired.
set -euo pipefail
cluster=$(cd "$(dirname "$0")/../.." && pwd)/hack/cluster
for command in up kill-apiserver start-apiserver; do "$cluster" --name "$1" "$command"; done
