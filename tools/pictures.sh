#!/usr/bin/env bash
# pictures.sh [BUILD] - make the pictures of our pages in docs/img again, from made-up examples
# (tests/gen/picture_data.py). Needs chromium and build/node (tools/setup.sh test); exit 77 without.
set -euo pipefail
case ${1:-} in -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;; esac
cd "$(dirname "$0")/.."
root=$PWD
build=$(cd "${1:-build}" && pwd)
skip() {
	printf 'SKIP: %s\n' "$*"
	exit 77
}
command -v node >/dev/null || skip "node is not installed"
[ -d "$build/node/node_modules/playwright-core" ] || skip "playwright-core is not installed (tools/setup.sh test)"
work=$(mktemp -d "${TMPDIR:-/tmp}/unitrace-pictures.XXXXXX")
trap 'rm -rf "$work"' EXIT
most=$((170 * 1024)) # bytes of a picture: it travels with every clone

python3 -B tests/gen/picture_data.py "$work"
python3 -B tests/gen/metrics_gen.py time "$work/metrics.csv" --samples 900
(
	cd "$work" # pages name their files
	"$build/bin/unitrace" devlog devlog.csv -o devlog --no-print-stats
	"$build/bin/unitrace" ops ops.json -o ops
	"$build/bin/unitrace" analyze -i analyze.json -o job.json --freq 560:800 -M -D 1 --html analyze.html
	"$build/bin/unitrace" roofline step.metrics.csv --device h200 -o roofline.html
	"$build/bin/unitrace" metrics -i 0 -m "XVE_STALL,XVE_ACTIVE,XVE_THREADS_OCCUPANCY_ALL" \
		-y "Share (%)" -t "Two rounds of five kernels" -o metrics.svg metrics.csv
	"$build/bin/unitrace" view --save view.html --compare before.json after.json
	"$build/bin/unitrace" hotspots -o flame.svg samples.json
	"$build/bin/unitrace" view --save hotspots.html samples.json
	"$build/bin/unitrace" view --save ranks.html halo.?.json
	"$build/bin/unitrace" view --save kernels.html "$root/tests/golden/inputs/kernels/model.json"
) >/dev/null

# A server with a project of three results, of which the last one was configured in its page.
project=$work/results/gpt
for result in r001-before r002-after r003-train; do
	mkdir -p "$project/$result"
	cp "$work/after.json" "$project/$result/run.json"
done
cp "$work/before.json" "$project/r001-before/run.json"
echo '{}' >"$project/project.json"
cat >"$project/r003-train/result.json" <<'JSON'
{"kind": "run", "made": 1760000000, "analysis": "GPU offload", "program": "python train.py --steps 100",
 "configuration": {"what": "launch", "application": "python", "parameters": "train.py --steps 100",
  "directory": "/srv/gpt", "environment": [{"name": "CUDA_VISIBLE_DEVICES", "value": "0"}],
  "analysis": "gpu-offload"}}
JSON
echo '{"state": "ready", "seconds": 15.9, "status": 0}' >"$project/r003-train/state.json"
cat >"$project/r003-train/verdict.json" <<'JSON'
{"verdict": "Host-bound", "tone": "bad", "say": "Host-bound: launch work earlier, or more of it at once; the device is idle 31.2 % of the time.", "why": ""}
JSON
# The page names its data directory: where we may, the server sees a folder that could be anybody's.
results=$work/results
ours=(unshare -Urm sh -c 'mount -t tmpfs none /srv && mkdir /srv/results /srv/gpt && mount --bind "$0" /srv/results && exec "$@"' "$results")
if "${ours[@]}" true 2>/dev/null; then
	results=/srv/results
else
	ours=()
	echo "pictures: no namespace of our own (unshare): the picture of serve shows $results" >&2
fi
PATH=$build/bin:$PATH ${ours[@]+"${ours[@]}"} unitrace serve --web-port=0 --data-directory "$results" \
	--enable-server-profiling 2>"$work/serve.log" &
server=$!
trap 'kill $server; wait $server 2>/dev/null; rm -rf "$work"' EXIT
until grep -q one-time-token "$work/serve.log"; do sleep 0.1; done
address=$(grep -o 'http://[^ ]*' "$work/serve.log")

mkdir "$work/img"
cp "$work/metrics.svg" "$work/flame.svg" "$work/img/"
node tools/pictures.js "$build/node/node_modules" "$work/img" \
	"devlog=$work/devlog/device_perf.html" "ops=$work/ops/profile_log_ops.html" \
	"analyze=$work/analyze.html#v=steps" "view=$work/view.html#w=6600000,7500000&s=8589934696" \
	"view-compare=$work/view.html#v=compare&z=cudnn_sdpa_flash_fprop" \
	"view-flame=$work/view.html#v=flame" "roofline=$work/roofline.html" \
	"view-metrics=$work/kernels.html#v=metrics" "view-hotspots=$work/hotspots.html#v=hotspots" \
	"view-ranks=$work/ranks.html#v=ranks" \
	"serve=${address%%/\?*}/configure?${address##*\?}"
for picture in "$work"/img/*; do
	size=$(wc -c <"$picture")
	if [ "$size" -gt $most ]; then
		echo "pictures: $(basename "$picture") is too big: $size bytes" >&2
		exit 1
	fi
	cp "$picture" docs/img/
	echo "pictures: docs/img/$(basename "$picture"), $size bytes"
done
