#!/usr/bin/env bash
# rootfs.sh PROGRAM FOLDER: lays out the root of an image that holds PROGRAM as /PROGRAM, the libraries it needs, the
# loader, CA certificates and a user without rights; nothing else, no shell. Used by the Dockerfile, by hack/image, and by users
# for programs of their own: see docs/library/deploy.md.
set -euo pipefail
[ $# -eq 2 ] || { echo "usage: rootfs.sh PROGRAM FOLDER" >&2; exit 2; }
program=$1 root=$2

mkdir -p "$root/etc/ssl/certs" "$root/licenses"
cp --dereference "$program" "$root/"
strip "$root/$(basename "$program")"

# Each library where the loader says it found it; the loader itself where the program names it.
missing=$(ldd "$program" | grep 'not found' || true)
[ -z "$missing" ] || { echo "rootfs.sh: libraries not found: $missing" >&2; exit 1; }
ldd "$program" | grep -oE '/[^ ]+' | sort -u | while read -r library; do
  mkdir -p "$root$(dirname "$library")"
  cp --dereference "$library" "$root$library"
done

# Maintenance windows are in local time. The copies of the database in posix and right are not used.
mkdir -p "$root/usr/share/zoneinfo"
(cd /usr/share/zoneinfo && tar -c --exclude=./posix --exclude=./right --dereference --hard-dereference .) |
  tar -x -C "$root/usr/share/zoneinfo"

cp --dereference /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
echo 'nobody:x:65534:65534:nobody:/:/nowhere' >"$root/etc/passwd"
echo 'nogroup:x:65534:' >"$root/etc/group"
echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
cp "$(dirname "$0")/../../LICENSE" "$root/licenses/"
# Whatever the umask was, the image's user must be able to read it all.
chmod -R u=rwX,go=rX "$root"
