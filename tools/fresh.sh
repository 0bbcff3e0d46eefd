#!/usr/bin/env bash
# fresh.sh - prove that a bare Debian 12 machine with a compiler can follow README.md and docs/install.md.
#
#   tools/fresh.sh [COMMAND]...
#
# Builds a bare Debian 12 in a temporary folder, clones the committed HEAD into it and runs the
# commands there, with this machine's package sources and proxies. Without commands: "make demo",
# "make test", and every command of README.md and then of docs/install.md, with pip, the Debian package
# and the SDK. Needs root, debootstrap and a mirror (exit status 77 if there is no such machine to be
# had); the folder is removed at the end unless KEEP=1. MIRROR names the Debian mirror, if the default
# is not the one in this machine's sources.
set -euo pipefail
cd "$(dirname "$0")/.."
source=$PWD
home=~root
case ${1:-} in
-h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" && exit 0 ;;
esac
[ $# -gt 0 ] || set -- "make demo" "make test" "tools/check_docs.py --bare README.md docs/install.md"

[ "$(id -u)" = 0 ] || { echo "fresh: needs root" >&2; exit 77; }
command -v debootstrap >/dev/null || { echo "fresh: needs the package debootstrap" >&2; exit 77; }

base=${FRESH_DIR:-$(mktemp -d "${TMPDIR:-/tmp}/unitrace-fresh.XXXXXX")}
target=$base/root
mounts=(proc sys dev dev/pts dev/shm)

unmount() {
	local i
	for ((i = ${#mounts[@]} - 1; i >= 0; i--)); do
		if mountpoint -q "$target/${mounts[i]}"; then umount -l "$target/${mounts[i]}" || true; fi
	done
}

clean() {
	unmount
	# Never delete through a mount that would not go away.
	if grep -q " $target/" /proc/mounts; then
		echo "fresh: something is still mounted under $target; left in place" >&2
	elif [ "${KEEP:-0}" = 1 ]; then
		echo "fresh: kept $target"
	else
		rm -rf --one-file-system "$base"
	fi
}
trap clean EXIT

# The first Debian mirror of this machine's own sources; debootstrap has a default of its own.
mirror() {
	local found
	found=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources \
		2>/dev/null | sed -nE 's/^(deb +(\[[^]]*\] +)?|URIs: *)([^ ]+).*/\3/p' |
		grep -E 'debian/?$' | grep -v security | head -n 1 || true)
	echo "${MIRROR:-$found}"
}

# Copy a file or folder of this machine to the same place in the new root.
carry() {
	local path
	for path in "$@"; do
		[ -e "$path" ] || continue
		mkdir -p "$target$(dirname "$path")"
		cp -aL "$path" "$target$(dirname "$path")/" 2>/dev/null || true
	done
}

# What this machine's package managers say about reaching the outside, whatever that is.
carry_configuration() {
	rm -f "$target/etc/apt/sources.list"
	carry /etc/apt/sources.list /etc/apt/sources.list.d /etc/apt/apt.conf /etc/apt/apt.conf.d \
		/etc/apt/preferences.d /etc/apt/trusted.gpg.d /etc/apt/keyrings \
		/usr/share/keyrings /etc/resolv.conf /etc/hosts /usr/local/share/ca-certificates \
		/etc/ssl/certs /etc/pip.conf "$home/.config/pip" "$home/.pip" "$home/.npmrc" /etc/npmrc
	env | grep -iE '^([a-z]+_proxy|PIP_[A-Z_]*|NPM_[A-Z_]*|SSL_CERT_[A-Z]*|NODE_EXTRA_CA_CERTS)=' \
		>"$base/environment" || true
	# Certificates that those variables and configurations point at; never keys or logins.
	local value
	while IFS= read -r value; do
		value=${value#file://}
		case $value in /*) carry "$value" ;; esac
	done < <({ cut -d= -f2- "$base/environment"; cat /etc/apt/apt.conf.d/* /etc/pip.conf \
		"$home/.config/pip/pip.conf" 2>/dev/null; } |
		grep -oE '(file://)?/[A-Za-z0-9_./-]+\.(pem|crt)' | sort -u)
}

# Folders of packages that pip's configuration names: mounted, for they may be large.
mount_package_folders() {
	local folder
	while IFS= read -r folder; do
		folder=${folder#file://}
		folder=${folder%/simple} # an index: its files lie beside it
		[ -d "$folder" ] || continue
		mkdir -p "$target$folder"
		mount --bind -o ro "$folder" "$target$folder" && mounts+=("${folder#/}")
	done < <({ grep -E '^PIP_(FIND_LINKS|(EXTRA_)?INDEX_URL)=' "$base/environment" | cut -d= -f2-
		cat /etc/pip.conf "$home/.config/pip/pip.conf" "$home/.pip/pip.conf" 2>/dev/null |
			sed -nE 's/^ *(find-links|(extra-)?index-url) *= *//p'; } | tr ' ' '\n' | grep -E '^(file://)?/' | sort -u)
}

inside() {
	local settings=()
	mapfile -t settings <"$base/environment"
	chroot "$target" /usr/bin/env -i HOME="$home" TERM=dumb LANG=C.UTF-8 \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		"${settings[@]}" /bin/bash -c "$1"
}

echo "fresh: bare Debian 12"
mkdir -p "$target"
keyring=()
[ -f /usr/share/keyrings/debian-archive-keyring.gpg ] || keyring=(--no-check-gpg)
# shellcheck disable=SC2046 # no mirror is no word
debootstrap --variant=minbase "${keyring[@]}" --include=gcc,libc6-dev,make,git,ca-certificates \
	bookworm "$target" $(mirror) >"$base/debootstrap.log" 2>&1 ||
	{ tail -n 5 "$base/debootstrap.log" >&2; exit 77; }

for dir in "${mounts[@]}"; do
	mkdir -p "$target/$dir"
	mount --bind "/$dir" "$target/$dir" 2>/dev/null || echo "fresh: no /$dir inside"
done
carry_configuration
mount_package_folders

# The committed HEAD and nothing else of this folder.
git -c safe.directory='*' clone --quiet --no-hardlinks "$source" "$target$home/unitrace"
echo "fresh: $(git -C "$target$home/unitrace" log -1 --format='%h %s')"

bad=0
for command in "$@"; do
	echo "fresh: \$ $command"
	start=$SECONDS
	if inside "cd $home/unitrace && $command"; then
		echo "fresh: ok, $((SECONDS - start)) s: $command"
	else
		echo "fresh: FAIL ($?), $((SECONDS - start)) s: $command"
		bad=1
	fi
done
exit $bad
