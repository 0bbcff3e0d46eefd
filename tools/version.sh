#!/usr/bin/env bash
# version.sh - print the version of this tree, as CMakeLists.txt has it.
#
#   tools/version.sh            1.0.0-rc.1, as in tags, --version and file names
#   tools/version.sh python     1.0.0rc1, as PEP 440 writes it
#   tools/version.sh debian     1.0.0~rc.1, which sorts before 1.0.0
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(sed -nE 's/^  VERSION ([0-9.]+)$/\1/p' CMakeLists.txt)
suffix=$(sed -nE 's/^set\(UT_VERSION_SUFFIX "([^"]*)"\).*/\1/p' CMakeLists.txt)
case ${1:-} in
"") echo "$version$suffix" ;;
python) echo "$version$(sed -E 's/^-alpha\./a/; s/^-beta\./b/; s/^-rc\./rc/' <<<"$suffix")" ;;
debian) echo "$version${suffix/#-/\~}" ;;
-h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" ;;
*) echo "version: no form '$1'; one of python debian" >&2 && exit 2 ;;
esac
