#!/usr/bin/env bash
# release_check.sh - check that the current commit can be released.
#
#   tools/release_check.sh [--quick] [--draft] [BUILD]   (default: build)
#   tools/release_check.sh --notes                       print the changelog of this version
#
# Every step prints one line: "ok" or "FAIL" with the reason. Its output is in BUILD/release-check/STEP.
# The exit status is 1 if any step failed. A step that cannot run here has failed.
#
#   tree       nothing is changed or untracked
#   version    CMakeLists.txt has a version of the form that docs/releasing.md describes
#   tag        the tag of this version does not exist yet, or names this commit
#   python     the Python package and the wheel have the same version
#   program    BUILD/bin/unitrace has the same version
#   changelog  CHANGELOG.md has the form of Keep a Changelog; its newest section is this version
#   docs       documents, man pages and --help agree (tools/check_docs.py)
#   dist       the tarball of "make dist" builds, with the viewer's page in it; its program works
#   fresh      a bare Debian 12 machine can follow README.md and docs/install.md (tools/fresh.sh; needs root,
#              debootstrap)
#
# --quick leaves out fresh and says so. --draft is for a tree whose version is not set yet: the newest
# section of the changelog may be [Unreleased], and the version may be that of the last release.
set -euo pipefail
cd "$(dirname "$0")/.."
unset MAKEFLAGS MFLAGS # "make release-check" calls this; "make dist" below is a run of its own
build=${BUILD:-build} quick="" draft="" notes=""

for word in "$@"; do
	case $word in
	--quick) quick=yes ;;
	--draft) draft=yes ;;
	--notes) notes=yes ;;
	-h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
	-*) echo "release_check: no option '$word'" >&2; exit 2 ;;
	*) build=$word ;;
	esac
done

version=$(tools/version.sh)

fail() {
	echo "$*"
	exit 1
}

# changelog check|notes: the form of CHANGELOG.md, or the text of the section of $version.
changelog() {
	python3 -B - "$1" "$version" "$draft" <<-'END'
		import datetime, re, sys

		what, version, draft = sys.argv[1:]
		KINDS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
		HEADING = re.compile(r"\[(Unreleased|(\d+)\.(\d+)\.(\d+)(?:-(alpha|beta|rc)\.(\d+))?)\]"
		                     r"(?: - (\d{4}-\d\d-\d\d)(?: \[YANKED\])?)?$")
		lines = open("CHANGELOG.md", encoding="utf-8").read().splitlines()
		bad, sections = [], []  # of (name, order, date, lines)


		def wrong(number, text):
		    bad.append(f"CHANGELOG.md:{number}: {text}")


		def read_heading(number, text):
		    found = HEADING.match(text)
		    if not found or (found[1] == "Unreleased") == bool(found[7]):
		        wrong(number, f"not '[Unreleased]' or '[VERSION] - YYYY-MM-DD': {text}")
		        sections.append((text, None, None, []))
		        return
		    order = date = None
		    if found[7]:
		        order = tuple(int(found[i]) for i in (2, 3, 4)) + (found[5] or "~", int(found[6] or 0))
		        try:
		            date = datetime.date.fromisoformat(found[7])
		        except ValueError:
		            wrong(number, f"no such day: {found[7]}")
		    sections.append((found[1], order, date, []))


		if not lines or lines[0] != "# Changelog":
		    wrong(1, "the first line is not '# Changelog'")
		kinds = set()
		for number, line in enumerate(lines, 1):
		    if line.startswith("## "):
		        read_heading(number, line[3:])
		        kinds = set()
		        continue
		    if line.startswith("### "):
		        kind = line[4:]
		        if kind not in KINDS:
		            wrong(number, f"'{kind}' is none of {', '.join(KINDS)}")
		        elif kind in kinds:
		            wrong(number, f"a second '{kind}' in one section")
		        kinds.add(kind)
		    elif line.startswith(("- ", "* ")) and sections and not kinds:
		        wrong(number, "an entry in front of the first '### ' heading")
		    if sections:
		        sections[-1][3].append(line)

		entries = {name: sum(l.startswith(("- ", "* ")) for l in text) for name, _, _, text in sections}
		names = [name for name, *_ in sections]
		if "Unreleased" in names[1:]:
		    wrong(1, "[Unreleased] is not the first section")
		if len(set(names)) < len(names):
		    wrong(1, "two sections of one version")
		released = [s for s in sections if s[0] != "Unreleased"]
		for newer, older in zip(released, released[1:]):
		    if newer[1] and older[1] and newer[1] < older[1]:
		        wrong(1, f"[{newer[0]}] is above [{older[0]}]")
		    if newer[2] and older[2] and newer[2] < older[2]:
		        wrong(1, f"[{newer[0]}] is older than [{older[0]}]")
		for name in names:
		    if not entries[name] and name != "Unreleased":
		        wrong(1, f"[{name}] has no entries")
		newest = released[0][0] if released else None

		if what == "notes":
		    text = [t for name, _, _, t in sections if name == version]
		    print("\n".join(text[0]).strip() if text else f"CHANGELOG.md has no section [{version}]")
		    sys.exit(not text)
		if draft:
		    if newest != version and not entries.get("Unreleased"):
		        wrong(1, f"neither [{version}] nor entries under [Unreleased]")
		elif newest != version:
		    wrong(1, f"the newest section is [{newest or 'Unreleased'}], not [{version}]")
		elif entries.get("Unreleased"):
		    wrong(1, f"entries under [Unreleased] belong to [{version}]")
		print("\n".join(bad))
		sys.exit(bool(bad))
	END
}

step_tree() {
	local changed
	changed=$(git status --porcelain) || fail "no git repository"
	[ -z "$changed" ] || fail "$changed"$'\n'"$(wc -l <<<"$changed") files are changed or untracked"
}

step_version() {
	[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-(alpha|beta|rc)\.[0-9]+)?$ ]] ||
		fail "CMakeLists.txt: '$version' is not MAJOR.MINOR.PATCH or MAJOR.MINOR.PATCH-rc.N"
}

step_tag() {
	local head at tag
	head=$(git rev-parse HEAD) || fail "no git repository"
	if [ -z "$draft" ] && at=$(git rev-parse -q --verify "refs/tags/v$version^{commit}"); then
		[ "$at" = "$head" ] || fail "the tag v$version is on another commit: ${at:0:12}"
	fi
	for tag in $(git tag --points-at HEAD --list 'v*'); do
		[ "$tag" = "v$version" ] || fail "this commit has the tag $tag, but the version $version"
	done
}

# Python writes 1.0.0-rc.1 as 1.0.0rc1 (PEP 440).
step_python() {
	local want found
	want=$(tools/version.sh python)
	found=$(sed -nE 's/^__version__ = "(.*)"$/\1/p' python/unitrace/__init__.py)
	[ "$found" = "$want" ] || fail "python/unitrace/__init__.py has '$found', not '$want'"
	found=$(cd python && python3 -B -c 'import build_wheel; print(build_wheel.metadata())' |
		sed -n 's/^Version: //p') || fail "python/build_wheel.py does not run"
	[ "$found" = "$want" ] || fail "the wheel has '$found', not '$want'"
	found=$(sed -nE 's/^version *= *"(.*)"$/\1/p' pyproject.toml)
	[ -z "$found" ] || [ "$found" = "$want" ] || fail "pyproject.toml has '$found', not '$want'"
}

step_program() {
	local found
	found=$("$build/bin/unitrace" --version | sed -n 1p) || fail "$build/bin/unitrace does not run (make)"
	[ "$found" = "unitrace $version" ] || fail "$build/bin/unitrace is '$found', not 'unitrace $version'"
}

step_changelog() { changelog check; }

step_docs() { UNITRACE_BUILD=$build python3 -B tools/check_docs.py; }

# The viewer's page has to come from the tarball: UT_WEB_MODULES leads nowhere.
step_dist() {
	local tarball=$build/unitrace-$version.tar.gz at unitrace
	rm -f "$tarball"
	make dist BUILD="$build" || fail "make dist failed"
	[ -s "$tarball" ] || fail "make dist made no $tarball"
	at=$(mktemp -d "${TMPDIR:-/tmp}/unitrace-release.XXXXXX")
	# shellcheck disable=SC2064 # the folder of now
	trap "rm -rf '$at'" EXIT
	tar -xzf "$tarball" -C "$at" || fail "$tarball cannot be unpacked"
	[ -d "$at/unitrace-$version" ] || fail "$tarball has no folder unitrace-$version"
	cmake -S "$at/unitrace-$version" -B "$at/build" -DBUILD_TESTING=OFF -DUT_WEB_MODULES=/nowhere ||
		fail "the tarball does not configure"
	cmake --build "$at/build" -j "$(nproc)" || fail "the tarball does not build"
	unitrace=$at/build/bin/unitrace
	[ "$("$unitrace" --version | sed -n 1p)" = "unitrace $version" ] ||
		fail "the tarball's program is not $version"
	export XDG_STATE_HOME=$at
	"$unitrace" -o "$at/hello.json" "$at/build/examples/hello" || fail "the tarball's program does not record"
	"$unitrace" export -o "$at/hello.html" "$at/hello.json" || fail "the tarball's program has no viewer"
	[ -s "$at/hello.html" ] || fail "the tarball's program exports nothing"
}

step_fresh() {
	local rc=0
	tools/fresh.sh || rc=$?
	case $rc in
	0) ;;
	77) fail "no bare machine can be made here: root, debootstrap and a mirror are needed" ;;
	*) fail "a command failed on the bare machine" ;;
	esac
}

failed=0
# run STEP: its one line. The reason is the last line of its output.
run() {
	local step=$1 start=$SECONDS log=$build/release-check/$1 rc=0
	("step_$step") >"$log" 2>&1 </dev/null || rc=$?
	if [ $rc = 0 ]; then
		printf 'ok    %-9s %4d s\n' "$step" $((SECONDS - start))
	else
		printf 'FAIL  %-9s %4d s  %s\n' "$step" $((SECONDS - start)) "$(tail -n 1 "$log")"
		failed=$((failed + 1))
	fi
}

if [ -n "$notes" ]; then
	changelog notes
	exit
fi
mkdir -p "$build/release-check"
echo "release check: unitrace $version${draft:+ (draft)}, output in $build/release-check"
for step in tree version tag python program changelog docs dist; do run $step; done
if [ -z "$quick" ]; then
	run fresh
else
	echo "left out: fresh (--quick)"
fi
[ $failed = 0 ] || { echo "release check: $failed failed"; exit 1; }
echo "release check: passed"
