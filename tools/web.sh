#!/usr/bin/env bash
# web.sh - the viewer's page (web/src): check, bundle, test, measure.
#
#   tools/web.sh [check|format|lint|page|test|browser|bench]...  (default: check page test browser)
#
# check: types, format and lint. format: as prettier has it. lint: ESLint, and which folder of web/src may
# import from which (web/eslint.config.cjs). page: build/web/app.js, app.css, workbench.js, workbench.css and
# their .gz, as the build makes them. test: numbers, in node. browser: the page in a real Chromium. bench: cost
# of frames with a million slices. ctest runs check, test and browser as web/check and so on, below its
# build folder (UNITRACE_BUILD). What they need comes from tools/setup.sh test; where something is missing,
# this says so and exits with 77.
set -euo pipefail
cd "$(dirname "$0")/.."

bundler=build/page/node_modules # esbuild and what is bundled
modules=build/node/node_modules # what checks and tests
out=${UNITRACE_BUILD:-build}/web
files="web/src web/test web/benchmark web/eslint.config.cjs"

skip() {
	printf 'SKIP: %s (tools/setup.sh test)\n' "$*" >&2
	exit 77
}

bundled() {
	compgen -G "$bundler/@esbuild/*/bin/esbuild" >/dev/null || skip "esbuild is not there"
}

bundle() { bundled && web/bundle.sh $bundler "$@"; }

# need PACKAGE...: those of npm.
need() {
	local package
	command -v node >/dev/null || skip "node is not installed"
	for package in "$@"; do
		[ -d "$modules/$package" ] || skip "$package is not installed"
	done
}

# What answers in pages that hold their trace; cmake makes it.
built() { [ -s "$out/module.wasm.gz" ] || skip "$out/module.wasm.gz is not built"; }

# Each part has a folder of its own: ctest runs them side by side, and the program is made of $out.
part() {
	# files is a list: split on purpose.
	# shellcheck disable=SC2086
	case $1 in
	check)
		need typescript-native @types/node prettier && bundled
		$modules/typescript-native/bin/tsc -p web
		$modules/.bin/prettier --check --log-level warn $files
		part lint
		;;
	lint)
		need eslint typescript-eslint
		(cd web && NODE_PATH=../$modules ../$modules/.bin/eslint --config eslint.config.cjs --max-warnings 0 ${files//web\//})
		;;
	format) need prettier && $modules/.bin/prettier --write --log-level warn $files ;;
	page) bundle "$out" page ;;
	test) need && built && bundle "$out/units" test && node --test "$out"/units/test/*.test.mjs ;;
	browser)
		need playwright-core && built
		bundle "$out/browser" page test && node "$out/browser/test/pages.mjs" $modules "$out/browser"
		;;
	bench)
		need playwright-core && built
		bundle "$out/benchmark" benchmark test && node "$out/benchmark/test/pages.mjs" $modules "$out/benchmark" benchmark
		;;
	-h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" ;;
	*)
		printf "web: unknown part '%s'; one of check format lint page test browser bench\n" "$1" >&2
		exit 2
		;;
	esac
}

[ $# -gt 0 ] || set -- check page test browser
for p in "$@"; do part "$p"; done
