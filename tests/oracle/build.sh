#!/usr/bin/env bash
# build.sh DIR: builds oracle-v1.34.3 and oracle-v1.37.2 into DIR. One source tree, one mod file a version.
set -eu
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")"
go build -o "$out/oracle-v1.37.2" .
go build -modfile=v1.34.mod -tags v1_34 -o "$out/oracle-v1.34.3" .
