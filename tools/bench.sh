#!/usr/bin/env bash
# bench.sh - run the benchmarks of tests/bench and say what was left out.
#
#   tools/bench.sh [BUILD [NAME...]]     BUILD is build by default, NAME bench_task, bench_read, ...
#
# Each benchmark prints its own ratios. One that ends with 77 needs something that is not here and has
# said what. The last line counts: "30 ran, 2 skipped, 0 failed". UNITRACE_BENCH_SCALE=tiny runs all of
# them at the smallest size, to check the benchmarks and not the program. Ends with 1 if one failed.
set -uo pipefail
case ${1:-} in -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;; esac
build=$(cd "${1:-build}" && pwd) || exit 1
[ $# -gt 0 ] && shift
cd "$(dirname "$0")/.." || exit 1
export UNITRACE_BUILD=$build UNITRACE_SOURCE=$PWD
ran=0 skipped=() failed=()

for name in "$@"; do
	compgen -G "tests/bench/$name.*" >/dev/null || { echo "bench: there is no $name in tests/bench" >&2; exit 2; }
done
for source in tests/bench/bench_*; do
	name=$(basename "$source")
	name=${name%.*}
	case " $* " in *" $name "* | "  ") ;; *) continue ;; esac
	case $source in
	*.c | *.cpp) command=("$build/tests/bench/$name") ;;
	*.py) command=(python3 -B "$source") ;;
	*.sh) command=(bash "$source") ;;
	*) continue ;;
	esac
	echo "== $name"
	status=0
	"${command[@]}" || status=$?
	case $status in
	0) ran=$((ran + 1)) ;;
	77)
		echo "bench: $name is skipped"
		skipped+=("$name")
		;;
	*)
		echo "bench: $name ended with $status"
		failed+=("$name")
		;;
	esac
done
if [ ${#skipped[@]} -gt 0 ]; then echo "bench: skipped: ${skipped[*]}"; fi
if [ ${#failed[@]} -gt 0 ]; then echo "bench: failed: ${failed[*]}"; fi
echo "$ran ran, ${#skipped[@]} skipped, ${#failed[@]} failed"
[ ${#failed[@]} -eq 0 ]
