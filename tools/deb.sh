#!/usr/bin/env bash
# deb.sh BUILD [FOLDER] - make a Debian package of what is built: unitrace_VERSION_MACHINE.deb in
# FOLDER, or in BUILD. "make deb" runs it. DEBFULLNAME and DEBEMAIL say who made it; git knows otherwise.
#
# The tree may be installed anywhere, so that it is not compiled again for /usr. Where lintian is
# installed it looks at the result, and its errors are ours.
set -euo pipefail
case ${1:-} in -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;; esac
cd "$(dirname "$0")/.."
source=$PWD
build=$(cd "${1:-build}" && pwd)
folder=$(cd "${2:-$build}" && pwd)
stage=$folder/deb
root=$stage/root

for tool in dpkg-deb dpkg-shlibdeps dpkg; do
	command -v $tool >/dev/null || { echo "deb: $tool is missing (the package dpkg-dev)" >&2; exit 1; }
done
version=$(tools/version.sh debian)-1
machine=$(dpkg --print-architecture)
name=${DEBFULLNAME:-$(git config user.name 2>/dev/null || echo "$(id -un)")}
mail=${DEBEMAIL:-$(git config user.email 2>/dev/null || echo "$(id -un)@$(uname -n).local")}
# The day of the sources, so that the same sources give the same package.
when=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH=$when

rm -rf "$stage"
mkdir -p "$root/DEBIAN" "$stage/debian"
DESTDIR=$root cmake --install "$build" --prefix /usr --strip >/dev/null

doc=$root/usr/share/doc/unitrace

# Debian's Python looks here; links made for other interpreters are of no use in a package.
python_links() {
	local at=$root/usr/lib/python3/dist-packages name

	rm -rf "$root"/usr/lib/python3*
	mkdir -p "$at"
	for name in "$root"/usr/lib/unitrace/python/unitrace*; do
		ln -s "../../unitrace/python/$(basename "$name")" "$at/"
	done
}

documents() {
	rm -rf "$root/usr/share/licenses"
	mv "$doc/CHANGELOG.md" "$doc/changelog"
	cat >"$doc/changelog.Debian" <<-EOF
		unitrace ($version) unstable; urgency=medium

		  * Built from the sources by "make deb"; changelog.gz tells what is new.

		 -- $name <$mail>  $(date -u -R -d "@$when")
	EOF
	gzip -9n "$doc/changelog" "$doc/changelog.Debian" "$root"/usr/share/man/man1/*.1
	cat >"$doc/copyright" <<-EOF
		Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
		Upstream-Name: unitrace

		Files: *
		Copyright: $(date -u -d "@$when" +%Y) the authors of unitrace
		License: Apache-2.0
		 On Debian systems the text of the Apache License, version 2.0, is in
		 /usr/share/common-licenses/Apache-2.0.
	EOF
}

# The old names that end in .py are shell and Python in one: the shell never gets to the second half.
overrides() {
	mkdir -p "$root/usr/share/lintian/overrides"
	echo 'unitrace: shell-script-fails-syntax-check [usr/bin/*.py]' \
		>"$root/usr/share/lintian/overrides/unitrace"
}

# needs FIELD FILE...: the packages of the libraries that these files are linked with.
needs() {
	local field=$1
	shift
	(cd "$stage" && dpkg-shlibdeps -O "-d$field" --ignore-missing-info "$@" 2>/dev/null) |
		sed -n "s/^shlibs:$field=//p"
}

# The package of the library that the program loads when it serves: nobody links with it. It is of the
# build's machine, and so installed.
recommends() {
	local file

	file=$(grep -aom1 'libmicrohttpd\.so\.[0-9]*' "$root/usr/bin/unitrace" | head -n1) || return 0
	dpkg-query -S "*/$file" 2>/dev/null | sed -nE '1s/^([^:,]+).*/\1/p'
}

control() {
	local lib=$root/usr/lib files depends recommends suggests=""

	mapfile -t files < <(find "$root/usr/bin/unitrace" "$lib"/libunitrace*.so* "$lib/unitrace/backends" \
		"$lib/unitrace/python" -type f \( -name '*.so' -o -name '*.so.*' -o -name unitrace \))
	printf 'Source: unitrace\n\nPackage: unitrace\nArchitecture: any\n' >"$stage/debian/control"
	depends=$(needs Depends "${files[@]}")
	recommends=$(recommends)
	# An MPI library is loaded when a command runs under it.
	if [ -d "$lib/unitrace/mpi" ]; then
		suggests=$(needs Suggests "$lib"/unitrace/mpi/*.so | sed -E 's/libc6 [^,]*, //')
	fi
	cat >"$root/DEBIAN/control" <<-EOF
		Package: unitrace
		Version: $version
		Architecture: $machine
		Maintainer: $name <$mail>
		Installed-Size: $(du -sk --exclude=DEBIAN "$root" | cut -f1)
		Depends: $depends${recommends:+
		Recommends: $recommends}
		Suggests: python3, openssh-client${suggests:+, $suggests}
		Conflicts: libittnotify-dev
		Section: devel
		Priority: optional
		Description: record what an accelerated application does, on host and device
		 unitrace runs a program and records what it says through the ITT API, its CUDA
		 and OpenCL work and its Python functions, as a timeline and a table. It reads,
		 merges, compares and queries traces of other tools as well.
		 .
		 The library and headers to mark programs with are included.
	EOF
	# Which package a program needs that is linked with our library.
	find "$lib" -maxdepth 1 -type f -name 'lib*.so.*' | sed -nE 's#.*/(lib[^/]*)\.so\.([0-9]+)$#\1 \2 unitrace#p' \
		>"$root/DEBIAN/shlibs"
	echo "activate-noawait ldconfig" >"$root/DEBIAN/triggers" # there is a library in /usr/lib
	(cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
}

python_links
documents
overrides
control
find "$root" -type d -exec chmod 755 {} +
find "$root" -type f -not -perm -u+x -exec chmod 644 {} +
find "$root/usr/lib" -type f -exec chmod 644 {} + # libraries are not run

deb=$folder/unitrace_${version}_$machine.deb
dpkg-deb --root-owner-group --build "$root" "$deb" >/dev/null
rm -rf "$stage"
case $deb in "$source"/*) shown=./${deb#"$source"/} ;; *) shown=$deb ;; esac
echo "deb: $shown ($(($(wc -c <"$deb") / 1024)) KiB)"
if command -v lintian >/dev/null; then
	lintian --allow-root --fail-on error "$deb"
fi
echo "To install it, as root: apt-get install $shown"
