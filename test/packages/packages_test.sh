#!/usr/bin/env bash
# The Debian packages and the chart of hack/release: they are the same when they are made again, install in a Debian 12 where nothing
# else is, and do there what they are for; and removing them leaves nothing. With KUBEXX_PACKAGES_DEV the library is installed there, too,
# and a program is built with it (about 1 GB of other packages); without, it is unpacked here.
# Root only: it has a chroot.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=../../hack/lib/common.sh
. "$root/hack/lib/common.sh"
# shellcheck source=../../hack/lib/images.sh
. "$root/hack/lib/images.sh"
fail() { die "FAILED: $*"; }
is_root || { as_root "$0" "$@"; exit; }
"$root/hack/deps" release
work=$(mktemp -d)
finish() {
  local mounted
  for mounted in proc dev; do ! mountpoint -q "$work/debian/$mounted" || umount -l "$work/debian/$mounted"; done
  rm -rf "$work"
}
trap finish EXIT

"$root/hack/release" --allow-changes --only packages,chart --out "$work/one"
"$root/hack/release" --allow-changes --only packages,chart --out "$work/two"
diff "$work/one/SHA256SUMS" "$work/two/SHA256SUMS" || fail "the same release has other files the second time"
(cd "$work/one" && sha256sum --quiet --check SHA256SUMS) || fail "SHA256SUMS is not that of the files"
jq -e '.components | any(.name == "libssl3" and .scope == "required")' "$work/one/kubexx-reloader.cdx.json" >/dev/null ||
  fail "the list of what is in kubexx-reloader lacks libssl3"
for package in "$work"/one/*.deb; do
  ! dpkg-deb -c "$package" | grep -vE ' root/root ' || fail "$package has files of somebody else than root"
done
! grep -rlaF "$root/" "$work/one" || fail "the files above name the folder in which they were made"

# A Debian with what is essential, and apt.
mirror=$(debian_mirror)
long_step "making a Debian 12" "$work/debootstrap.log" debootstrap --variant=minbase --include=ca-certificates bookworm "$work/debian" "$mirror"
rm -f "$work/debian/etc/apt/sources.list"
cp -r /etc/apt/sources.list* /etc/apt/apt.conf.d "$work/debian/etc/apt/"
cp /etc/resolv.conf "$work/debian/etc/"
cp /etc/ssl/certs/ca-certificates.crt "$work/debian/etc/ssl/certs/"
mount -t proc proc "$work/debian/proc"
mount --bind /dev "$work/debian/dev"
mkdir "$work/debian/packages"
cp "$work"/one/*.deb "$work/debian/packages/"
inside() { chroot "$work/debian" env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 HOME=/root "$@"; }
install() { # install PATTERN...
  long_step "installing $*" "$work/install.log" inside sh -c "apt-get -q update && apt-get -qy --no-install-recommends install $*"
}
install /packages/kubexx-reloader_*.deb /packages/kubexx-apiserver_*.deb /packages/kubexx-podsource_*.deb
version=$(sed -nE 's/^project\(kubexx VERSION ([0-9.]+).*/\1/p' "$root/CMakeLists.txt")
for program in kubexx-reloader kubexx-apiserver kubexx-apiserver-etcd kubexx-podsource; do
  said=$(inside "$program" --version) || fail "$program does not run"
  [[ $said == *"$version"* ]] || fail "$program --version says: $said"
  [ -s "$work/debian/usr/share/man/man1/$program.1.gz" ] || fail "$program has no manual page"
  for file in bash-completion/completions/$program zsh/vendor-completions/_$program fish/vendor_completions.d/$program.fish; do
    [ -s "$work/debian/usr/share/$file" ] || fail "$program has no $file"
  done
done
[[ $(inside kubectl-reloader version) == "kubectl reloader $version"* ]] || fail "kubectl-reloader is no plugin of kubectl"
inside kubectl_complete-reloader pa | grep -qx 'pause.*' || fail "kubectl_complete-reloader does not complete pause"
[ -s "$work/debian/usr/share/doc/kubexx-reloader/copyright" ] || fail "kubexx-reloader tells no licence"

# A server of it serves, and the operator's program talks to it.
# Not by way of a function, whose process would be a shell that ends alone.
chroot "$work/debian" kubexx-apiserver --address 127.0.0.1:0 --write-kubeconfig /tmp/kubeconfig >"$work/server.log" 2>&1 &
server=$!
wait_for 20 "the server's kubeconfig" test -s "$work/debian/tmp/kubeconfig" || { cat "$work/server.log" >&2; fail "the server does not start"; }
said=$(inside kubexx-reloader status --kubeconfig /tmp/kubeconfig 2>&1) || { cat "$work/server.log" >&2; fail "kubexx-reloader status says: $said"; }
kill "$server"
wait "$server" || true

long_step "removing them" "$work/remove.log" inside apt-get -qy --purge remove kubexx-reloader kubexx-apiserver kubexx-podsource
! find "$work/debian/usr" "$work/debian/etc" "$work/debian/var/lib" -path '*/dpkg/*' -prune -o -path '*/apt/*' -prune -o -name '*kubexx*' -print | grep . ||
  fail "the files above stay when the packages are removed"

# The library.
mkdir "$work/program"
cat >"$work/program/CMakeLists.txt" <<'TEXT'
cmake_minimum_required(VERSION 3.25)
project(program LANGUAGES CXX)
find_package(kubexx REQUIRED COMPONENTS testing)
add_executable(program main.cc)
target_link_libraries(program PRIVATE kubexx::testing kubexx::controller)
TEXT
cat >"$work/program/main.cc" <<'TEXT'
#include <array>
#include <cstdio>

#include "kubexx/base/text/join.h"

int main() { std::puts(kubexx::base::Join(std::array{"it", "works"}, " ").c_str()); }
TEXT
if [ -n "${KUBEXX_PACKAGES_DEV:-}" ]; then
  install g++ cmake ninja-build /packages/libkubexx-dev_*.deb /packages/libkubexx-testing-dev_*.deb
  cp -r "$work/program" "$work/debian/program"
  long_step "building a program there" "$work/build.log" inside sh -c 'cmake -S /program -B /program/build -G Ninja && cmake --build /program/build'
  said=$(inside /program/build/program)
else
  for package in "$work"/one/libkubexx*.deb; do dpkg-deb -x "$package" "$work/library"; done
  long_step "building a program" "$work/build.log" \
    sh -c "cmake -S '$work/program' -B '$work/program/build' -G Ninja -DCMAKE_PREFIX_PATH='$work/library/usr' && cmake --build '$work/program/build'"
  said=$("$work/program/build/program")
fi
[ "$said" = "it works" ] || fail "a program with the library says: $said"
log "PASSED"
