#!/bin/sh
# deps.sh PACKAGE ...: installs the Debian packages that are missing; asks no registry when none is.
set -eu
missing=
for package in "$@"; do
	dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
echo "installing missing packages:$missing"
sudo=
if [ "$(id -u)" != 0 ]; then
	command -v sudo >/dev/null || { echo "neither root nor sudo: install by hand:$missing" >&2; exit 1; }
	sudo=sudo
fi
export DEBIAN_FRONTEND=noninteractive
# The lists may be old or empty: a failed try is repeated with new ones.
$sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null 2>&1 || {
	$sudo apt-get update -qq
	$sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null
}
