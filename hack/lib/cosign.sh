# cosign, which signs files with a key, built from its Go module at a pinned version. To be sourced after common.sh and go.sh.
# shellcheck shell=bash disable=SC2154

kx_cosign_version=2.6.2

install_cosign() {
  local stamp=
  if [ -x "$kx_bin/cosign" ] && read -r stamp 2>/dev/null <"$kx_bin/.cosign.version" && [ "$stamp" = "$kx_cosign_version" ]; then return 0; fi
  install_go
  long_step "building cosign $kx_cosign_version" "$KUBEXX_CACHE/logs/cosign.log" \
    env GOBIN="$kx_bin" CGO_ENABLED=0 go install -trimpath -ldflags '-s -w' "github.com/sigstore/cosign/v2/cmd/cosign@v$kx_cosign_version"
  echo "$kx_cosign_version" >"$kx_bin/.cosign.version"
}

# sign_file KEY FILE: writes FILE.sig. Nothing is sent to a public log, and nothing is asked.
sign_file() {
  "$kx_bin/cosign" sign-blob --yes --tlog-upload=false --key "$1" --output-signature "$2.sig" "$2" >/dev/null 2>"$2.log" || {
    cat "$2.log" >&2
    rm -f "$2.log"
    die "cosign could not sign with the key $1; COSIGN_PASSWORD has its password"
  }
  rm -f "$2.log"
}
