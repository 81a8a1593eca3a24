#!/usr/bin/env bash
# kubexx-podsource with a real API server, a directory of manifests and Debian's nginx: see podsource_test.py.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
: "${KUBEXX_CLUSTER_NAME:?the cluster to use; run this with: hack/test --integration -R podsource}"
"$top/hack/deps" e2e
eval "$("$top/hack/cluster" --name "$KUBEXX_CLUSTER_NAME" env)"
exec /usr/bin/python3 "$here/podsource_test.py" --program "${KUBEXX_BUILD_DIR:-$top/build/release}/bin/kubexx-podsource" \
  --cluster "$top/hack/cluster" --cluster-name "$KUBEXX_CLUSTER_NAME"
