# Container images made on this machine: no registry is needed. To be sourced after common.sh.
# shellcheck shell=bash disable=SC2154

kx_images=$KUBEXX_CACHE/images
kx_pause=localhost/kubexx-pause:1
kx_busybox=localhost/busybox:1

# buildah with a store of our own in the cache; `chroot` isolation works without a container runtime.
kx_buildah() {
  BUILDAH_ISOLATION=chroot buildah --root "$KUBEXX_CACHE/containers/store" --runroot "$KUBEXX_CACHE/containers/run" \
    --storage-driver vfs "$@"
}

# image_from_folder FOLDER NAME TAR OPTION...: an image of one layer, as an OCI archive. Options are `buildah config`'s. One
# at a time: in the store two images of the same name would be one. Where kx_image_time is set, in seconds since 1970, it is the time of
# everything, and the same folder gives the same archive.
image_from_folder() {
  mkdir -p "$KUBEXX_CACHE/containers" "$(dirname "$3")"
  (
    flock 9
    build_from_folder "$@" 9>&-
  ) 9>"$KUBEXX_CACHE/containers/.lock"
}
build_from_folder() {
  local folder=$1 image=$2 tar=$3 container
  shift 3
  container=$(kx_buildah from scratch)
  kx_buildah add -q "$container" "$folder" / >/dev/null
  kx_buildah config "$@" "$container"
  kx_buildah commit -q --rm ${kx_image_time:+--timestamp "$kx_image_time"} "$container" "$image" >/dev/null
  export_image "$image" "$tar"
}

# export_image NAME TAR: moves it out of buildah's store.
export_image() {
  rm -rf "$2.new" "$2.folder"
  if [ -n "${kx_image_time:-}" ]; then
    kx_buildah push -q "$1" "oci:$2.folder:$1"
    tar -C "$2.folder" --sort=name --mtime="@$kx_image_time" --owner=0 --group=0 --numeric-owner -cf "$2.new" .
    rm -rf "$2.folder"
  else
    kx_buildah push -q "$1" "oci-archive:$2.new:$1"
  fi
  mv "$2.new" "$2"
  kx_buildah rmi "$1" >/dev/null
}

# The sandbox of every pod: a static program that sleeps.
make_pause_image() {
  local work
  work=$(mktemp -d)
  mkdir "$work/root"
  gcc -x c -static -O1 -o "$work/root/pause" - <<'END'
#include <signal.h>
#include <unistd.h>
static void stop(int signal) { (void)signal; _exit(0); }
int main(void) {
  signal(SIGTERM, stop);
  signal(SIGINT, stop);
  for (;;) pause();
}
END
  image_from_folder "$work/root" "$kx_pause" "$kx_images/pause.tar" --entrypoint '["/pause"]'
  rm -rf "$work"
}

# A shell and small tools, for workloads in tests: Debian's static busybox.
make_busybox_image() {
  local work
  work=$(mktemp -d)
  mkdir -p "$work/root/bin" "$work/root/tmp" "$work/root/etc"
  cp "$(command -v busybox)" "$work/root/bin/busybox"
  busybox --list | grep -vx busybox | while read -r applet; do ln -s busybox "$work/root/bin/$applet"; done
  echo 'root:x:0:0:root:/:/bin/sh' >"$work/root/etc/passwd"
  image_from_folder "$work/root" "$kx_busybox" "$kx_images/busybox.tar" --cmd '["/bin/sh"]' --env PATH=/bin
  rm -rf "$work"
}

# Two nodes that come up at the same time may both make them: each is moved to its place when it is whole.
make_node_images() {
  [ -f "$kx_images/pause.tar" ] || make_pause_image
  [ -f "$kx_images/busybox.tar" ] || make_busybox_image
}

# The sources of this machine's own Debian mirror, whichever form they have; prints the first mirror's address.
debian_mirror() {
  { cat /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null || true; } |
    sed -nE 's/^URIs: *([^ ]+).*/\1/p; s/^deb +(\[[^]]*\] *)?([^ ]+) .*/\2/p' | grep -v security | sed -n 1p
}
