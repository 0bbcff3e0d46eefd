#!/usr/bin/env bash
# skipped.sh BUILD - what the last ctest run left out, and why: ctest itself keeps the reasons.
log=${1:-build}/Testing/Temporary/LastTest.log
[ -f "$log" ] || exit 0
awk '
	/^[0-9]+\/[0-9]+ Testing: / { name = $3 }
	sub(/^SKIP: /, "") { print "skipped: " name ": " $0 }
	match($0, /\.\.\. skipped ./) {
		why = substr($0, RSTART + RLENGTH)
		print "skipped: " name ": " $1 ": " substr(why, 1, length(why) - 1)
	}' "$log"
