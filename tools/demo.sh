#!/usr/bin/env bash
# demo.sh BUILD - trace an example and say what to do with the result. "make demo" runs it.
set -euo pipefail
case ${1:-} in -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;; esac
name=${1:-build}
build=$(cd "$name" && pwd)
out=$build/demo

[ -x "$build/bin/unitrace" ] || { echo "demo: $build/bin/unitrace is not built" >&2; exit 1; }
[ -x "$build/examples/threads" ] || { echo "demo: $build/examples/threads is not built" >&2; exit 1; }

# A demo starts from an empty folder; only traces are removed.
mkdir -p "$out"
rm -f "$out"/*.json "$out"/*.json.gz "$out"/*.utr "$out"/*.html

cd "$out"
echo "\$ $name/bin/unitrace $name/examples/threads"
echo
"$build/bin/unitrace" "$build/examples/threads"

# shellcheck disable=SC2012 # our own file names
trace=$(ls -t -- *.json 2>/dev/null | head -n 1 || true)
echo
[ -n "$trace" ] || { echo "demo: no trace was written" >&2; exit 1; }
echo "The trace is $name/demo/$trace ($(wc -c <"$trace") bytes), for any viewer of Chrome traces."
page=""
# A page of ours, if this build has it; --version says so.
if "$build/bin/unitrace" --version | grep -q '^  view '; then
	"$build/bin/unitrace" view --save demo.html "$trace"
	page=yes
fi
echo
echo "Next:"
if [ -n "$page" ]; then echo "  $name/bin/unitrace view $name/demo/$trace      look at it in a browser"; fi
echo "  $name/bin/unitrace stats $name/demo/$trace     where the time went, by name"
echo "  $name/bin/unitrace info $name/demo/$trace      what is in it"
echo "  $name/bin/unitrace ./your-program   trace your own"
echo "  $name/bin/unitrace --help           every option"
echo "  make test                        prove that all works here"

echo
if [ -n "$page" ]; then
	echo "And as a page of its own, which any browser opens without a network:"
	echo "  file://$out/demo.html"
else
	echo "This build is without the viewer's page; tools/setup.sh build says why."
fi
