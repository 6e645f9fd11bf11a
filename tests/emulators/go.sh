#!/bin/sh
# go.sh: prints a Go that can build the test servers, or fails. go.sh --install: sees to it that there is one.
# Debian 12 has 1.19, which cannot fetch a newer one by itself (1.21 and later can): there it comes from backports.
set -eu

find_go() {
	for go in go /usr/lib/go-1.2[1-9]/bin/go /usr/lib/go-1.[3-9][0-9]/bin/go /usr/local/go/bin/go; do
		command -v "$go" >/dev/null 2>&1 || continue
		GOTOOLCHAIN=local "$go" version 2>/dev/null | grep -qE 'go1\.(2[1-9]|[3-9][0-9])' || continue
		command -v "$go"
		return 0
	done
	return 1
}

if [ "${1:-}" != --install ]; then
	find_go || { echo "no Go of version 1.21 or later: tests/emulators/go.sh --install" >&2; exit 1; }
	exit 0
fi
find_go >/dev/null && exit 0
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
. /etc/os-release
echo "installing Go for the test servers"
if [ "${VERSION_ID:-99}" -lt 13 ] 2>/dev/null; then
	echo "deb http://deb.debian.org/debian ${VERSION_CODENAME}-backports main" |
		$sudo tee /etc/apt/sources.list.d/weir-backports.list >/dev/null
	packages="-t ${VERSION_CODENAME}-backports golang-1.23-go"
else
	packages=golang-go
fi
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -qq
# shellcheck disable=SC2086 # an option and a name
$sudo apt-get install -y -qq --no-install-recommends $packages ca-certificates >/dev/null
find_go >/dev/null
