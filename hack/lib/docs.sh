# The generator of the documentation's site, in a folder of its own in the cache. To be sourced after common.sh.
# shellcheck shell=bash disable=SC2154

kx_docs_wanted=$kx_root/hack/docs.d/requirements.txt
# One folder for each list of versions, so that two checkouts do not take turns in it.
kx_docs_venv=$KUBEXX_CACHE/docs-$(sha256sum "$kx_docs_wanted" | cut -c1-12)

# Installs the very files whose digests requirements.txt has, unless they are there.
install_docs() {
  [ ! -e "$kx_docs_venv/.complete" ] || return 0
  mkdir -p "$KUBEXX_CACHE"
  local lock
  exec {lock}>"$KUBEXX_CACHE/.docs.lock"
  flock "$lock"
  if [ ! -e "$kx_docs_venv/.complete" ]; then
    long_step "installing MkDocs" "$KUBEXX_CACHE/logs/docs.log" sh -c "rm -rf '$kx_docs_venv' && /usr/bin/python3 -m venv '$kx_docs_venv' &&
      '$kx_docs_venv/bin/pip' --disable-pip-version-check install --require-hashes --only-binary :all: -r '$kx_docs_wanted'" || return 1
    touch "$kx_docs_venv/.complete"
  fi
  exec {lock}>&-
}
