#!/bin/sh
# Installs what the tests of umbo-recipes run, as listed in tools.txt, into $UMBO_TEST_TOOLS
# (default: target/test-tools of the workspace). All programs end up in its bin/ directory.
# Running it again only does what is missing. What comes from the system's packages is installed
# with apt-get when it is not there, by root or through sudo.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
list=$here/tools.txt
tools=${UMBO_TEST_TOOLS:-$here/../../../target/test-tools}
mkdir -p "$tools/bin" "$tools/node"
tools=$(CDPATH='' cd -- "$tools" && pwd)

packages() { awk -v from="$1" '$1 == from { print $2 }' "$list"; }
programs() { awk -v from="$1" '$1 == from { for (i = 3; i <= NF; i++) print $i }' "$list"; }

# A stamp holds the packages of the last complete installation.
is_current() { [ -f "$tools/$1.stamp" ] && [ "$(packages "$1")" = "$(cat "$tools/$1.stamp")" ]; }

missing=$(awk '$1 == "system" { print $2, $3 }' "$list" | while read -r package program; do
    command -v "$program" >/dev/null 2>&1 || echo "$package"
done)
if [ -n "$missing" ]; then
    root=
    [ "$(id -u)" = 0 ] || root='sudo -n'
    $root apt-get update -qq
    # shellcheck disable=SC2086 # the words are the packages
    DEBIAN_FRONTEND=noninteractive $root apt-get install -y -qq --no-install-recommends $missing
fi

if ! is_current pypi; then
    [ -x "$tools/py/bin/pip" ] || python3 -m venv "$tools/py"
    # shellcheck disable=SC2046 # the words are the packages
    "$tools/py/bin/pip" install --quiet --disable-pip-version-check $(packages pypi)
    packages pypi >"$tools/pypi.stamp"
fi

if ! is_current npm; then
    # shellcheck disable=SC2046 # the words are the packages
    npm install --silent --no-fund --no-audit --prefix "$tools/node" $(packages npm)
    packages npm >"$tools/npm.stamp"
fi

for program in $(programs pypi); do
    ln -sf "$tools/py/bin/$program" "$tools/bin/$program"
done
for program in $(programs npm); do
    ln -sf "$tools/node/node_modules/.bin/$program" "$tools/bin/$program"
done
for program in $(programs system); do
    ln -sf "$(command -v "$program")" "$tools/bin/$program"
done
echo "tools for the tests of umbo-recipes are in $tools/bin"
