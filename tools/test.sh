#!/usr/bin/env bash
# test.sh - run the tests of a build tree, once, and say what was skipped and why.
#
#   tools/test.sh BUILD [ctest options]
#
# Nothing is built, and nothing that fails is run again: a test that fails only beside others has found
# a fault. What was skipped comes last, grouped by reason.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
case ${1:-} in
"" | -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" && exit 0 ;;
esac
build=$1
shift
start=$SECONDS
# ctest lists every skipped test without its reason: left out, since the reasons follow.
stdbuf -oL ctest --test-dir "$build" -FS . -LE build --output-on-failure "$@" |
	sed -u '/^The following tests did not run:/,/^$/d'
status=${PIPESTATUS[0]}
python3 -B tools/skipped.py "$build"
echo "tests took $((SECONDS - start)) s"
exit "$status"
