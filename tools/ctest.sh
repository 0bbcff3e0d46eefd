#!/usr/bin/env bash
# ctest.sh BUILD [ctest options] - runs the tests of a tree, then once more, one at a time, those that
# failed: two cores that are shared by a browser, a compiler and eight ranks of MPI make some checks of
# time miss. What fails again has failed; what passes then is named, for it is worth a look.
set -uo pipefail
build=$1
shift
cd "$build" || exit 1
build=$PWD again=$build/Testing/Temporary/LastTestsFailed.log
rm -f "$again"
ctest -FS built --output-on-failure "$@"
status=$?
[ $status = 0 ] && exit 0
[ -s "$again" ] || exit $status
named=$(sed 's/^[0-9]*://' "$again")
log=$build/Testing/Temporary/LastTest.log
cp "$log" "$log.first" 2>/dev/null
echo "these failed beside others and are run again, alone:" $named
# By name: ctest's own --rerun-failed counts tests, and counts others where -E left some out.
ctest -FS built --output-on-failure -j 1 -R "^($(paste -sd '|' <<<"$named"))\$"
status=$?
mv "$log.first" "$log" 2>/dev/null # the log of all of them
if [ $status = 0 ]; then echo "passed alone, but not beside others:" $named; fi
exit $status
