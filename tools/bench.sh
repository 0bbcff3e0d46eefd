#!/usr/bin/env bash
# bench.sh BUILD - run every bench_* of tests/bench. Each prints its own ratios; one that ends with
# 77 lacks something on this machine and has said so.
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
	status=0
	"${command[@]}" || status=$?
	case $status in
	0) ;;
	77) echo "bench: ${name%.*} is skipped" ;;
	*)
		echo "bench: ${name%.*} ended with $status"
		failed=1
		;;
	esac
	ran=$((ran + 1))
done
[ $ran -gt 0 ] || echo "bench: nothing in tests/bench yet"
exit $failed
