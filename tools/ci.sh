#!/usr/bin/env bash
# ci.sh - the gates. A laptop and the CI run the same ones.
#
#   tools/ci.sh [all GATE...]   all gates (and those), two at a time; the tests themselves are `make test`
#   tools/ci.sh check           before a commit: the quick gates, clang-tidy and cppcheck for changed
#                               files, and the tests labelled fast. `make check` builds, then does this
#   tools/ci.sh lint            format layers limits words scripts spelling tidy cppcheck symbols
#   tools/ci.sh nightly         what takes hours: all tests in full, long fuzzing, soak, benchmarks
#   tools/ci.sh GATE...         some: format layers limits words scripts spelling tidy cppcheck asan tsan lean
#                               fuzz docs skips symbols install; and bare, which follows README.md and
#                               docs/install.md on a bare Debian, as tools/fresh.sh does
#
# Each gate prints one line, and its log (build/ci/log/GATE) only when it fails. symbols, install and
# docs look at the tree in build/, which they build if need be; others have trees in build/ci that are
# kept, so a second run only builds what changed. FUZZ_SECONDS (60) is for all targets together.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
root=$PWD
build=$root/build
ci=$build/ci
jobs=$(nproc)
unset MAKEFLAGS MFLAGS # "make lint" is no reason for a sub-make to share its jobs

# Names the collector may export: what it interposes, and what ITT programs look up in it.
exported='__itt_[A-Za-z0-9_]+|Initialize|NotifyEvent|Finalize[A-Za-z]*|setenv|putenv|unsetenv|clearenv|unitrace_join'

# What it may import: nothing that allocates, prints, waits for a lock, ends the process or loads.
imported='_ITM_[A-Za-z]+|__cxa_(atexit|finalize)|__errno_location|__gmon_start__|__(mem|str)[a-z]+_chk|__progname_full
__register_atfork|__stack_chk_fail|__tls_get_addr|dlsym|getauxval|(secure_)?getenv|gethostname|getp?pid|mem[a-z]+|munmap|prctl
program_invocation_name|pthread_(key_create|self|setspecific)|sched_yield|sigfillset|str(chr|n?cmp|c?spn|n?len|rchr|str)|syscall'
imported=${imported//$'\n'/|}
# The library of timers, too: stacks of threads, the number of a CPU, sets of signals.
imported_timer='pthread_attr_[a-z]+|sched_getcpu|sig(addset|delset|ismember)'

sources() { find src include examples tests -name '*.[ch]' -o -name '*.cpp' 2>/dev/null | sort; }

# tree NAME [cmake arguments]: configure and build build/ci/NAME, with its tests where it has any;
# $targets limits what is built.
tree() {
	local name=$1 all=all
	shift
	cmake -S . -B "$ci/$name" -G 'Unix Makefiles' "$@" || return 1
	# What setup.sh put into build/ serves every tree.
	local extra
	for extra in venv node packages; do
		if [ -d "build/$extra" ]; then ln -sfn "$root/build/$extra" "$ci/$name/$extra"; fi
	done
	grep -q '^BUILD_TESTING:BOOL=ON' "$ci/$name/CMakeCache.txt" && all+=" tests"
	# shellcheck disable=SC2086 # a list of words
	cmake --build "$ci/$name" -j "$jobs" --target ${targets:-$all}
}

# The tree that users build, with what `make` would make in it.
user_tree() { cmake -S . -B "$build" >/dev/null && cmake --build "$build" -j "$jobs" >/dev/null; }

# Files that changed since the branch left its upstream (CHECK_BASE names another commit), or are new.
changed() {
	local base=${CHECK_BASE:-}
	[ -n "$base" ] || base=$(git merge-base HEAD '@{upstream}' 2>/dev/null) || base=HEAD
	{ git diff --name-only --diff-filter=d "$base" -- "$@"; git ls-files -o --exclude-standard -- "$@"; } | sort -u
}

gate_format() {
	local tool
	tool=$(command -v clang-format-14 || command -v clang-format) || { echo "no clang-format"; return 1; }
	sources | grep -v '^tests/golden/' | xargs -r "$tool" --dry-run --Werror
}

gate_layers() { python3 -B tools/check_layers.py; }

gate_limits() { python3 -B tools/check_limits.py; }

gate_words() { python3 -B tools/check_words.py; }

gate_scripts() {
	local file bad=0
	for file in .ci/run tools/*.sh tests/*.sh tests/*/*.sh; do
		[ ! -f "$file" ] || bash -n "$file" || bad=1
	done
	find tools tests python -name '*.py' -print0 | xargs -0 python3 -c '
import ast, sys
for file in sys.argv[1:]:
    ast.parse(open(file, encoding="utf-8").read(), file)
' || bad=1
	return $bad
}

gate_spelling() {
	local tool=$build/venv-lint/bin/codespell
	[ -x "$tool" ] || tool=$(command -v codespell) || { echo "codespell is not installed (tools/setup.sh lint)"; return 77; }
	git ls-files -z | xargs -0 "$tool"
}

# tidy FILE...: each once, one file per process: clang-tidy 14 invents va_list errors otherwise, and
# the collector compiles some files a second time.
tidy() {
	command -v clang-tidy >/dev/null || { echo "clang-tidy is not installed (tools/setup.sh lint)"; return 77; }
	cmake -S . -B "$ci/tidy" -DCMAKE_C_COMPILER=clang -DBUILD_TESTING=OFF || return 1
	mkdir -p "$ci/tidy/once"
	python3 - "$ci/tidy" <<-'EOF' || return 1
		import json, sys
		each = {c["file"]: c for c in json.load(open(sys.argv[1] + "/compile_commands.json"))}
		json.dump(list(each.values()), open(sys.argv[1] + "/once/compile_commands.json", "w"))
	EOF
	# The path-sensitive analyzer takes ten times as long as the rest: here it looks at what runs
	# in other people's processes; TIDY=all looks at everything (a quarter of an hour).
	local guests='^src/(base|record/(wire|collect|timer|sdk|backend))/' rest=(--checks='-clang-analyzer-*') bad=0
	if [ "${TIDY:-}" = all ]; then rest=(); fi
	printf '%s\n' "$@" | { grep -E "$guests" || true; } |
		xargs -r -n 1 -P "$jobs" clang-tidy --quiet -p "$ci/tidy/once" || bad=1
	printf '%s\n' "$@" | { grep -vE "$guests" || true; } |
		xargs -r -n 1 -P "$jobs" clang-tidy --quiet "${rest[@]}" -p "$ci/tidy/once" || bad=1
	return $bad
}

gate_tidy() {
	local files
	mapfile -t files < <(find src -name '*.c' | sort)
	tidy "${files[@]}"
}

# on_changed CHECK: CHECK for the files of src that changed.
on_changed() {
	local files
	mapfile -t files < <(changed 'src/*.c')
	[ ${#files[@]} -gt 0 ] || { echo "no file of src changed"; return 0; }
	"$1" "${files[@]}"
}

gate_tidy_changed() { on_changed tidy; }

# check_c FILE...: cppcheck 2.10 takes "return fd < 0 ? -errno : fd" for a leak and "if (*p) return *p" for
# a mistake; leaks are the business of clang's analyzer and of ASan. readdir is thread-safe in glibc.
check_c() {
	local quiet=() id
	command -v cppcheck >/dev/null || { echo "cppcheck is not installed (tools/setup.sh lint)"; return 77; }
	mkdir -p "$ci/cppcheck"
	for id in missingIncludeSystem readdirCalled memleak resourceLeak leakReturnValNotUsed \
		identicalInnerCondition preprocessorErrorDirective:include/ittnotify.h; do
		quiet+=("--suppress=$id")
	done
	cppcheck --quiet --error-exitcode=1 --inline-suppr --std=c11 --library=posix,gnu -j "$jobs" \
		--enable=warning,performance,portability "${quiet[@]}" \
		--cppcheck-build-dir="$ci/cppcheck" -D_GNU_SOURCE -DUT_WITH_ITT=1 -DUT_HAVE_ZLIB=1 \
		-DUT_HAVE_ZSTD=1 '-DUT_LIBDIR_REL="../lib"' '-DUT_VERSION="0"' -I src -I src/record -I src/trace \
		-I src/analysis -I src/app -I include "$@"
}

gate_cppcheck() { check_c src; }

gate_cppcheck_changed() { on_changed check_c; }

# What `make test` skipped must be what no package registry has.
gate_skips() {
	[ ! -s "$build/setup-skipped" ] || { echo "not to be had here: $(paste -sd ' ' "$build/setup-skipped")"; return 77; }
	python3 -B tools/skipped.py --strict "$build"
}

gate_fast() { tools/test.sh "$build" -j $((2 * jobs)) -L '^fast$'; }

# What builds without any of the optional libraries, as on a machine that has a compiler alone.
gate_lean() {
	cmake -S . -B "$ci/lean" -G 'Unix Makefiles' -DUT_WERROR=ON -DBUILD_TESTING=OFF \
		-DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 \
		-DCMAKE_DISABLE_FIND_PACKAGE_{SQLite3,ZLIB,PkgConfig,OpenCL,Python3}=ON \
		-DUT_ZSTD_LIBRARY=UT_ZSTD_LIBRARY-NOTFOUND -DUT_WEB_MODULES=/nowhere &&
		cmake --build "$ci/lean" -j "$jobs" --target unitrace &&
		"$ci/lean/bin/unitrace" --version
}

# One tree by clang for warnings, sanitizers and fuzzing: its compiler is the other one, and each tree
# costs minutes. -O1: three times the inputs in the same time, and tests as fast as at -O0.
clang_tree() {
	tree clang -DUT_WERROR=ON -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
		-DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG='-O1 -g' -DUT_FUZZ=ON \
		-DUT_SANITIZE=address,undefined
}

# Every reader, command and module: unit tests, golden cases and the fast end-to-end tests. Pages and
# types are not our C; what takes long there runs sanitized in `tools/ci.sh nightly`.
gate_asan() {
	export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
	export UBSAN_OPTIONS=print_stacktrace=1 LSAN_OPTIONS=suppressions=$root/tests/lsan.txt:print_suppressions=0
	clang_tree && tools/test.sh "$ci/clang" -j $((2 * jobs)) -L "${ASAN_LABELS:-^fast\$}" -LE '^browser$'
}

# By gcc, optimised as users have it: the warnings of both are errors here, for every module.
gate_tsan() {
	local fixed=()
	# Some kernels place programs where gcc 12's TSan does not expect them.
	if setarch -R true 2>/dev/null; then fixed=(setarch -R); fi
	targets="unitrace unit_wire unit_collect unit_backend" tree tsan -DUT_WERROR=ON \
		-DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG='-O2 -g' -DUT_SANITIZE=thread &&
		"${fixed[@]}" tools/test.sh "$ci/tsan" -L '^(wire|collect|backend)$'
}

gate_fuzz() {
	compgen -G 'tests/fuzz/fuzz_*.c' >/dev/null || { echo "no fuzz targets yet"; return 77; }
	clang_tree && python3 -B tools/fuzz.py "$ci/clang" --seconds "${FUZZ_SECONDS:-60}"
}

# Links, options, paths and counts of the documents, and their marked examples.
gate_docs() { user_tree && UNITRACE_BUILD=$build python3 -B tools/check_docs.py; }

# globals LIBRARY ALLOWED: names defined in a static library that the project does not know.
globals() {
	nm -g --defined-only "$1" 2>/dev/null |
		awk -v lib="$(basename "$1")" -v ok="^(ut_[a-z0-9_]+|$2)\$" \
			'NF == 3 && $3 !~ ok { print lib ": global " $3 " does not start with ut_"; bad = 1 }
			 END { exit bad }'
}

gate_symbols() {
	local lib bad=0
	user_tree || { echo "the tree in build/ does not build"; return 1; }
	lib=$build/lib/libunitrace.so
	if [ -f "$lib" ]; then
		nm -D --defined-only "$lib" | awk -v ok="^($exported)\$" \
			'$3 !~ ok { print "libunitrace.so exports " $3; bad = 1 } END { exit bad }' || bad=1
		nm -D --undefined-only "$lib" | sed 's/@.*//' | awk -v ok="^($imported)\$" \
			'$NF !~ ok { print "libunitrace.so imports " $NF ", which a guest may not need"; bad = 1 }
			 END { exit bad }' || bad=1
		readelf -d "$lib" | awk '/NEEDED/ && !/libc\.so\.6|ld-linux/ {
			print "libunitrace.so needs more than libc: " $NF; bad = 1 } END { exit bad }' || bad=1
		readelf -d "$lib" | grep -q TEXTREL && { echo "libunitrace.so has text relocations"; bad=1; }
	fi
	lib=$build/lib/unitrace/libunitrace-timer.so
	if [ -f "$lib" ]; then
		nm -D --defined-only "$lib" | awk '$3 !~ /^(prctl|pthread_create|sigaction|signal|syscall)$/ {
			print "libunitrace-timer.so exports " $3; bad = 1 } END { exit bad }' || bad=1
		nm -D --undefined-only "$lib" | sed 's/@.*//' | awk -v ok="^($imported|$imported_timer)\$" \
			'$NF !~ ok { print "libunitrace-timer.so imports " $NF ", which a guest may not need"; bad = 1 }
			 END { exit bad }' || bad=1
		readelf -d "$lib" | awk '/NEEDED/ && !/libc\.so\.6|ld-linux/ {
			print "libunitrace-timer.so needs more than libc: " $NF; bad = 1 } END { exit bad }' || bad=1
	fi
	for lib in "$build"/modules/libut_*.a "$build"/lib/libittnotify.a; do
		[ -f "$lib" ] || continue
		case $lib in
		*/libut_read.a) globals "$lib" 'unitrace_[a-z_]+' || bad=1 ;;
		*/libut_collect.a) globals "$lib" "$exported" || bad=1 ;;
		*/libut_sdk.a | */libittnotify.a | */libut_itt.a) globals "$lib" '_?_itt_[A-Za-z0-9_]+|iJIT_[A-Za-z0-9_]+' || bad=1 ;;
		*/libut_backend.a) globals "$lib" 'ut_ze[A-Za-z0-9]+|ze[rst]?Get[A-Za-z0-9]+ProcAddrTable|unitrace_backend' || bad=1 ;;
		*) globals "$lib" 'ut_' || bad=1 ;;
		esac
	done
	return $bad
}

# Install, move the tree elsewhere, and use it as a stranger would.
gate_install() {
	local stage=$ci/install/stage there=$ci/install/moved
	user_tree || { echo "the tree in build/ does not build"; return 1; }
	rm -rf "$ci/install" && mkdir -p "$ci/install/user"
	DESTDIR=$stage cmake --install "$build" >/dev/null || return 1
	mv "$stage/usr/local" "$there"
	(cd "$there" && find . -type f | sort)
	if [ -x "$there/bin/unitrace" ]; then "$there/bin/unitrace" --version || return 1; fi
	[ -f "$there/include/ittnotify.h" ] || return 0
	cd "$ci/install/user" || return 1
	cat >user.c <<-'EOF'
		#include <ittnotify.h>
		int main(void)
		{
			__itt_domain *d = __itt_domain_create("user");
			__itt_task_begin(d, __itt_null, __itt_null, __itt_string_handle_create("work"));
			__itt_task_end(d);
			return 0;
		}
	EOF
	cat >CMakeLists.txt <<-'EOF'
		cmake_minimum_required(VERSION 3.22)
		project(user C)
		find_package(unitrace REQUIRED)
		add_executable(user user.c)
		target_link_libraries(user unitrace::ittnotify)
	EOF
	cmake -S . -B by-cmake -DCMAKE_PREFIX_PATH="$there" >/dev/null && cmake --build by-cmake || return 1
	# shellcheck disable=SC2046 # flags are words
	cc user.c -o by-pkg-config \
		$(PKG_CONFIG_PATH=$there/lib/pkgconfig pkg-config --cflags --libs ittnotify) || return 1
	./by-cmake/user && ./by-pkg-config || return 1
	[ ! -x "$there/bin/unitrace" ] || "$there/bin/unitrace" ./by-pkg-config
}

gate_bare() { tools/fresh.sh "make demo" "tools/check_docs.py --bare README.md docs/install.md"; }

# digest LOG: where it went wrong first, and how it ended.
digest() {
	grep -nE '(error|warning|runtime error|ERROR|FAILED|Failed|FAIL)\b' "$1" | head -n 15
	echo ...
	tail -n 20 "$1"
}

# run GATE: its one line, and its log if it failed.
run() {
	local gate=$1 start=$SECONDS log=$ci/log/$1 rc=0
	(set -uo pipefail; "gate_$gate") >"$log" 2>&1 </dev/null || rc=$?
	case $rc in
	0) printf 'ok    %-9s %4d s\n' "$gate" $((SECONDS - start)) ;;
	77)
		printf 'skip  %-9s %4d s  %s\n' "$gate" $((SECONDS - start)) "$(tail -n 1 "$log")"
		echo "$gate" >>"$ci/skipped"
		;;
	*)
		printf 'FAIL  %-9s %4d s  (build/ci/log/%s)\n%s\n' "$gate" $((SECONDS - start)) "$gate" \
			"$(digest "$log" | sed 's/^/      /')"
		echo "$gate" >>"$ci/failed"
		;;
	esac
}

# pool GATE...: two at a time.
pool() {
	local gate
	for gate in "$@"; do
		while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
		run "$gate" &
	done
	wait
}

# Each part to its end, whatever the others say.
nightly() {
	local bad=0
	tools/setup.sh lint real bench
	cmake -S . -B "$build" && cmake --build "$build" -j "$jobs" --target all tests || return 1
	UNITRACE_LONG=1 tools/test.sh "$build" || bad=1
	TIDY=all FUZZ_SECONDS=${FUZZ_SECONDS:-3600} ASAN_LABELS=. gates $lint asan tsan fuzz || bad=1
	make soak || bad=1
	make bench || bad=1
	return $bad
}

lint="format layers limits words scripts spelling tidy cppcheck"
quick="format layers limits words scripts spelling tidy_changed cppcheck_changed"

gates() {
	local first="" last="" gate failed skipped
	mkdir -p "$ci/log"
	rm -f "$ci/failed" "$ci/skipped"; touch "$ci/failed" "$ci/skipped"
	for gate in "$@"; do
		declare -F "gate_$gate" >/dev/null || { echo "ci: no gate '$gate'" >&2; return 2; }
		case $gate in # these share the tree in build/, and take it as it is
		symbols | install | docs | fast | fuzz) last+=" $gate" ;;
		*) first+=" $gate" ;;
		esac
	done
	# shellcheck disable=SC2086
	pool $first
	# Fuzzing takes the tree that asan has built, and goes on beside the others.
	case " $last " in *" fuzz "*) run fuzz & ;; esac
	for gate in $last; do [ "$gate" = fuzz ] || run "$gate"; done
	wait
	failed=$(wc -l <"$ci/failed")
	skipped=$(wc -l <"$ci/skipped")
	echo "gates: $(($# - failed - skipped)) passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ]
}

case ${1:-all} in
# shellcheck disable=SC2086 # lists of words
# What takes longest comes first, or the others wait for it.
all) gates asan "${@:2}" tidy cppcheck tsan lean format layers limits scripts spelling skips symbols install docs fuzz ;;
lint) gates $lint symbols ;;
check) gates $quick docs fast ;;
nightly) nightly ;;
-h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" ;;
*) gates "$@" ;;
esac
