#!/usr/bin/env bash
# Builds and runs every benchmark of bench/, one after the other, and leaves their JSON in
# build/bench/. Not part of the tests: run it on a machine that does nothing else; it takes about
# half an hour, most of it whole requests through a rung of 8192 and the soak.
#
# usage: scripts/bench.sh [NAME...]   (decode_step compile_rung batch_step migration switches soak,
#                                      and, on request only, cores and top)
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
targets=()
for name in "${names[@]}"; do
  case "$name" in cores | top) targets+=(ahead) ;; *) targets+=("$name") ;; esac
done
cmake --build --preset release -j2 --target "${targets[@]}"
mkdir -p build/bench

# Runs of the program in turn: arms NAME MEASURES MODEL ARM... -- OPTION...
arms() {
  local name="$1" measures="$2"
  shift 2
  python3 bench/arms.py --rounds "${AHEAD_BENCH_ROUNDS:-5}" --json "build/bench/$name.json" "$measures" \
    build/release/ahead "$@"
}

# The default for cores beside every choice of the first so many.
cores() {
  local arms=("default=") all="" core
  for core in $(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)))'); do
    all="${all:+$all,}$core"
    arms+=("$(tr , + <<<"$all")=--device-cores $all")
  done
  local tokens=(--force data/forced.txt --ladder 1024,2048)
  arms cores_read read_s,first_token_s "$model" "${arms[@]}" -- "${tokens[@]}" --prompt-tokens 900 --max-new-tokens 4
  arms cores_decode decode_ms "$model" "${arms[@]}" -- "${tokens[@]}" --prompt-tokens 128 --max-new-tokens 400
}

# What a ladder's top costs a request that does not come to it; the model has to reach that far.
top() {
  local large="${AHEAD_BENCH_GGUF:-$deps/models/Qwen2.5-Coder-0.5B-Instruct.Q4_K_M.gguf}"
  [[ -f "$large" ]] || bash scripts/setup.sh --models
  arms top first_token_s,rss_mib "$large" "8K=--ladder 1024,2048,4096,8192" "32K=" \
    -- --force data/forced.txt --prompt-tokens 128 --max-new-tokens 32
}

for name in "${names[@]}"; do
  printf '\n[bench] %s\n' "$name"
  case "$name" in
    migration) build/release/migration | tee "build/bench/$name.json" ;;
    switches)
      for policy in in-place copy-grow; do build/release/switches "$model" --kv "$policy"; done |
        tee "build/bench/$name.json"
      ;;
    cores) cores ;;
    top) top ;;
    soak) build/release/soak "$model" | tee "build/bench/$name.json" ;;
    *)
      "build/release/$name" --benchmark_repetitions=5 --benchmark_enable_random_interleaving=true \
        --benchmark_report_aggregates_only=true \
        --benchmark_out="build/bench/$name.json" --benchmark_out_format=json
      ;;
  esac
done
