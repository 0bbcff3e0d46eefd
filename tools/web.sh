#!/usr/bin/env bash
# web.sh - the viewer's page (web/src): check, bundle, test, measure.
#
#   tools/web.sh [check|format|page|test|browser|bench]...  (default: check page test browser)
#
# check: types and format. format: as prettier has it. page: build/web/app.js, app.css and their .gz. test: numbers, in node. browser: the
# page in a real Chromium. bench: cost of frames with 1 and 10 million slices. What it needs comes
# from tools/setup.sh web; without it, this says so and exits with 77.
set -euo pipefail
cd "$(dirname "$0")/.."

modules=build/node/node_modules
out=build/web
files="web/src web/test web/bench web/bundle.mjs"

skip() {
	printf 'web: skipped: %s\n' "$*" >&2
	exit 77
}

command -v node >/dev/null || skip "node is not installed (tools/setup.sh test)"
[ -d $modules/esbuild ] || skip "esbuild is not installed (tools/setup.sh web)"

bundle() { node web/bundle.mjs $modules $out "$@"; }

part() {
	# files is a list: split on purpose.
	# shellcheck disable=SC2086
	case $1 in
	check)
		$modules/.bin/tsc -p web
		$modules/.bin/prettier --check --log-level warn $files
		;;
	format) $modules/.bin/prettier --write --log-level warn $files ;;
	page) bundle page ;;
	test) bundle test && node --test $out/test/*.test.mjs ;;
	browser) bundle page test && node $out/test/pages.mjs $modules $out ;;
	bench) bundle page bench test && node $out/test/pages.mjs $modules $out bench ;;
	-h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" ;;
	*)
		printf "web: unknown part '%s'; one of check format page test browser bench\n" "$1" >&2
		exit 2
		;;
	esac
}

[ $# -gt 0 ] || set -- check page test browser
for p in "$@"; do part "$p"; done
