#!/usr/bin/env bash
# bench.sh BUILD - run every bench_* of tests/bench. Each prints its own ratios.
set -uo pipefail
build=$(cd "${1:-build}" && pwd)
export UNITRACE_BUILD=$build UNITRACE_SOURCE=$PWD
failed=0 ran=0

for source in tests/bench/bench_*; do
	name=$(basename "$source")
	case $name in
	*.c | *.cpp) command=("$build/tests/bench/${name%.*}") ;;
	*.py) command=(python3 -B "$source") ;;
	*.sh) command=(bash "$source") ;;
	*) continue ;;
	esac
	echo "== ${name%.*}"
	"${command[@]}" || { echo "bench: ${name%.*} ended with $?"; failed=1; }
	ran=$((ran + 1))
done
[ $ran -gt 0 ] || echo "bench: nothing in tests/bench yet"
exit $failed
