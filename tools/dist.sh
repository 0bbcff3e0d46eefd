#!/usr/bin/env bash
# dist.sh BUILD - make a release tarball, BUILD/unitrace-VERSION.tar.gz: what git has of the last
# commit, and in web/dist the viewer's page, so that it builds without Node. "make dist" runs it.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(cd "${1:-build}" && pwd)
version=$(sed -n 's/^  VERSION \([0-9.]*\)$/\1/p' CMakeLists.txt)
name=unitrace-$version

for file in app.js app.css bench.js bench.css; do
	[ -s "$build/web/$file.gz" ] || { echo "dist: $build/web/$file.gz is not built (tools/setup.sh build)" >&2; exit 1; }
done
git diff --quiet HEAD -- web || { echo "dist: web/ has changes that are not committed" >&2; exit 1; }
rm -rf "$build/dist"
mkdir -p "$build/dist/$name/web/dist"
cp "$build"/web/{app,bench}.{js,css}.gz "$build/dist/$name/web/dist/"
date=$(git log -1 --format=%ct)
git archive --format=tar --prefix="$name/" -o "$build/dist/$name.tar" HEAD
# The same commit gives the same bytes.
tar --append -f "$build/dist/$name.tar" -C "$build/dist" --sort=name --owner=0 --group=0 --numeric-owner \
	--mtime="@$date" "$name/web/dist"
gzip -9n <"$build/dist/$name.tar" >"$build/$name.tar.gz"
rm -rf "$build/dist"
echo "$build/$name.tar.gz"
