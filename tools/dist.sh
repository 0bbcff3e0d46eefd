#!/usr/bin/env bash
# dist.sh BUILD - make a release tarball, BUILD/unitrace-VERSION.tar.gz: what git has of the last
# commit, and in web/dist the viewer's page, so that it builds without Node and clang. "make dist" runs it.
set -euo pipefail
case ${1:-} in -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;; esac
cd "$(dirname "$0")/.."
build=$(cd "${1:-build}" && pwd)
version=$(tools/version.sh)
name=unitrace-$version

for file in app.js app.css workbench.js workbench.css module.wasm; do
	[ -s "$build/web/$file.gz" ] || { echo "dist: $build/web/$file.gz is not built (tools/setup.sh build)" >&2; exit 1; }
done
git diff --quiet HEAD -- web || { echo "dist: web/ has changes that are not committed" >&2; exit 1; }
rm -rf "$build/dist"
mkdir -p "$build/dist/$name/web/dist"
cp "$build"/web/{app,workbench}.{js,css}.gz "$build/web/module.wasm.gz" "$build/dist/$name/web/dist/"
date=$(git log -1 --format=%ct)
git archive --format=tar --prefix="$name/" -o "$build/dist/$name.tar" HEAD
# The same commit gives the same bytes.
tar --append -f "$build/dist/$name.tar" -C "$build/dist" --sort=name --owner=0 --group=0 --numeric-owner \
	--mtime="@$date" "$name/web/dist"
gzip -9n <"$build/dist/$name.tar" >"$build/$name.tar.gz"
rm -rf "$build/dist"
echo "$build/$name.tar.gz"
