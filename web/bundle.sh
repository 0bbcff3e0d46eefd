#!/bin/sh
# bundle.sh - makes the page, its tests and its benchmark from web/. cmake and tools/web.sh run it.
#
#   web/bundle.sh NODE_MODULES OUT page|test|benchmark|MODULE.wasm...
#
# page: OUT/app.js and app.css (the viewer), workbench.js and workbench.css (the page of unitrace serve, with the
# viewer in it), and all of them compressed: what the program carries. MODULE.wasm: the same of the module
# that answers in saved pages (cmake/wasm.cmake), which needs nothing of NODE_MODULES. esbuild is a program of
# its own, so this needs no Node.
set -eu
modules=$(cd "$1" 2>/dev/null && pwd || echo "$1")
mkdir -p "$2"
out=$(cd "$2" && pwd)
shift 2
web=$(cd "$(dirname "$0")" && pwd)
limit=$((112 * 1024)) # bytes of the whole page as it is sent
module_limit=$((160 * 1024)) # of what a saved page has beside it
workbench_limit=$((200 * 1024)) # of that of unitrace serve, which browsers keep

# bundle ENTRY... OPTION...: what every bundle has in common.
bundle() {
	NODE_PATH=$modules "$modules"/@esbuild/*/bin/esbuild "$@" --bundle --jsx=automatic \
		--jsx-import-source=preact --legal-comments=none --log-level=warning \
		'--define:process.env.NODE_ENV="production"'
}

# weigh LIMIT FILE...: compresses them; together they may not weigh more than the limit.
weigh() {
	most=$1
	total=0
	shift
	for file in "$@"; do
		gzip -9n <"$out/$file" >"$out/$file.gz"
		size=$(wc -c <"$out/$file.gz")
		total=$((total + size))
		echo "$file: $size bytes compressed"
	done
	if [ $total -gt "$most" ]; then
		echo "web: $* weigh $total bytes compressed, more than $most" >&2
		for file in "$@"; do rm -f "$out/$file.gz"; done
		exit 1
	fi
}

page() {
	bundle "app=$web/src/main.tsx" "workbench=$web/src/workbench.tsx" --outdir="$out" --format=iife --minify \
		--target=es2022 --charset=ascii
	weigh $limit app.js app.css
	weigh $workbench_limit workbench.js workbench.css
}

test_files() {
	bundle "$web"/test/*.test.ts "$web/test/serve.ts" "$web/test/pages.ts" --outdir="$out/test" \
		--format=esm --platform=node --out-extension:.js=.mjs --sourcemap=inline --target=node18 \
		--charset=utf8 --external:playwright-core --external:axe-core
}

for what in "$@"; do
	case $what in
	page) page ;;
	*.wasm)
		cp "$what" "$out/module.wasm"
		weigh $module_limit module.wasm
		;;
	test) test_files ;;
	benchmark)
		bundle "benchmark=$web/benchmark/benchmark.tsx" --outdir="$out" --format=iife --minify --target=es2022 \
			--charset=utf8
		;;
	*)
		echo "web: unknown part '$what'; one of page test benchmark, or a module" >&2
		exit 2
		;;
	esac
done
