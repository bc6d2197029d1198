#!/usr/bin/env bash
# corpus.sh DIR [CASES [SEED]]: writes tests/corpus/fresh-*.jsonl.zst, probes-*.jsonl.zst and tests/rollout with the binaries of build.sh in DIR.
# The train-* files are cases made elsewhere: corpus.sh labels their objects anew and refuses to go on if a verdict changes.
set -eu -o pipefail
bin=$1 cases=${2:-6000} seed=${3:-100000}
corpus=$(cd "$(dirname "$0")/../corpus" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
pack() { zstd -16 --long=24 -q -f -o "$tmp/packed" && mv "$tmp/packed" "$1"; }
for v in v1.34.3 v1.37.2; do
  o=$bin/oracle-$v
  "$o" generate -seed "$seed" -cases "$cases" -prefix fresh | "$o" label -workers 12 | "$o" compact | pack "$corpus/fresh-$v.jsonl.zst"
  "$o" probes | "$o" label | "$o" compact | pack "$corpus/probes-$v.jsonl.zst"
  for f in "$corpus"/train-*"$v".jsonl.zst; do
    "$o" label -workers 12 "$f" | "$o" compact >"$tmp/again"
    "$o" compare -ignore .daemonset.deleted "$f" "$tmp/again"
  done
  seed=$((seed + 1000000))
done
"$bin/oracle-v1.37.2" rollout -seed 1000 -cases 2500 | pack "$(dirname "$corpus")/rollout/v1.37.2.jsonl.zst"
ls -l "$corpus" "$(dirname "$corpus")/rollout"
