# A container image with Debian's nginx, its shell and its tools. To be sourced after hack/lib/images.sh.
# shellcheck shell=bash disable=SC2154

kx_nginx=localhost/nginx:1

# make_nginx_image TAR: from the packages that are installed here, with the libraries of each program where the loader finds them.
make_nginx_image() {
  local work program
  work=$(mktemp -d)
  mkdir -p "$work/root/"{etc/nginx,tmp,run,var/log/nginx,var/lib/nginx,usr/share/nginx/modules}
  for program in /usr/sbin/nginx /bin/dash /usr/bin/sha256sum /bin/ls /bin/cat /bin/sleep; do
    install -D "$(readlink -f "$program")" "$work/root$program"
    ldd "$program" | grep -oE '/[^ ]+' | sort -u | while read -r library; do
      [ -e "$work/root$library" ] || install -D "$(readlink -f "$library")" "$work/root$library"
    done
  done
  ln -s dash "$work/root/bin/sh"
  echo 'root:x:0:0:root:/:/bin/sh' >"$work/root/etc/passwd"
  echo 'root:x:0:' >"$work/root/etc/group"
  # With no daemon and one worker as root it needs no other user.
  cat >"$work/root/etc/nginx/nginx.conf" <<'END'
user root;
worker_processes 1;
daemon off;
pid /run/nginx.pid;
error_log stderr notice;
events { worker_connections 64; }
http {
  access_log off;
  include /etc/nginx/conf.d/*.conf;
}
END
  image_from_folder "$work/root" "$kx_nginx" "$1" --cmd '["/usr/sbin/nginx"]' --env PATH=/usr/sbin:/usr/bin:/bin
  rm -rf "$work"
}
