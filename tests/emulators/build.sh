#!/bin/sh
# build.sh PROGRAM: builds the test servers with the module's pinned versions. A Go that is older than the module wants
# fetches the right one by itself (GOTOOLCHAIN=auto). Packages come once, through the module proxy. The tag leaves out of
# the client of Cloud Storage what it needs for gRPC only.
set -eu
cd "$(dirname "$0")"
go=$(./go.sh)
GOTOOLCHAIN=local "$go" version | grep -qE 'go1\.(2[6-9]|[3-9][0-9])' || export GOTOOLCHAIN=auto
exec "$go" build -mod=readonly -tags disable_grpc_modules -buildvcs=false -trimpath -o "$1" .
