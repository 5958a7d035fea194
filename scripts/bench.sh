#!/usr/bin/env bash
# Builds and runs every benchmark of bench/, one after the other, and leaves their JSON in
# build/bench/. Not part of the tests: run it on a machine that does nothing else; it takes about
# half an hour, most of it whole requests through a rung of 8192 and the soak.
#
# usage: scripts/bench.sh [NAME...]   (decode_step compile_rung batch_step migration switches soak)
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"
all=(decode_step compile_rung batch_step migration switches soak)
names=("$@")
((${#names[@]})) || names=("${all[@]}")
bash scripts/setup.sh
deps="$(cd "${DEPS_DIR:-.deps}" && pwd)"
model="${AHEAD_BENCH_GGUF:-$deps/model/SmolLM2-135M-Instruct.Q4_1.gguf}"
cmake --preset release -DAHEAD_DEPS_DIR="$deps" >/dev/null
cmake --build --preset release -j2 --target "${names[@]}"
mkdir -p build/bench

for name in "${names[@]}"; do
  printf '\n[bench] %s\n' "$name"
  case "$name" in
    migration) build/release/migration | tee "build/bench/$name.json" ;;
    switches)
      for policy in in-place copy-grow; do build/release/switches "$model" --kv "$policy"; done |
        tee "build/bench/$name.json"
      ;;
    soak) build/release/soak "$model" | tee "build/bench/$name.json" ;;
    *)
      "build/release/$name" --benchmark_repetitions=5 --benchmark_enable_random_interleaving=true \
        --benchmark_report_aggregates_only=true \
        --benchmark_out="build/bench/$name.json" --benchmark_out_format=json
      ;;
  esac
done
