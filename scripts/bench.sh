#!/usr/bin/env bash
# Builds and runs every benchmark of bench/, one after the other, and leaves their JSON in
# build/bench/. Not part of the tests: run it on a machine that does nothing else.
#
# usage: scripts/bench.sh [BENCHMARK_OPTION...]
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"
bash scripts/setup.sh
deps="$(cd "${DEPS_DIR:-.deps}" && pwd)"
cmake --preset release -DAHEAD_DEPS_DIR="$deps" >/dev/null
cmake --build --preset release -j2 --target decode_step
mkdir -p build/bench

options=("$@")
((${#options[@]})) || options=(--benchmark_repetitions=5 --benchmark_enable_random_interleaving=true
  --benchmark_report_aggregates_only=true)
for bench in decode_step; do
  "build/release/$bench" "${options[@]}" \
    --benchmark_out="build/bench/$bench.json" --benchmark_out_format=json
done
