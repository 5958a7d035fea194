#!/usr/bin/env bash
# Shows Ahead: builds it, streams a story across three boundaries while the next rung compiles behind
# it, then runs the designs on one and the same text and prints what each of them cost.
# Sufficient alone on a fresh Debian 12; offline once scripts/setup.sh has run. Results stay in
# build/demo/.
#
# usage: scripts/demo.sh
# environment: DEPS_DIR as for scripts/setup.sh
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"
ladder=64,128,256,512
results="$root/build/demo"

say() { printf '\n[demo] %s\n' "$*"; }

bash scripts/setup.sh
deps="$(cd "${DEPS_DIR:-.deps}" && pwd)"
model="$deps/model/SmolLM2-135M-Instruct.Q4_1.gguf"
ahead="$root/build/release/ahead"

printf '[demo] building …\n'
cmake --preset release -DAHEAD_DEPS_DIR="$deps" >/dev/null
cmake --build --preset release -j2 --target ahead
mkdir -p "$results"

say "design i3, ladder $ladder: each next rung compiles while this one decodes"
# Past end tokens, so that all boundaries are crossed whatever the model would rather say; the
# penalty keeps so small a model from telling the same paragraph again.
"$ahead" run "$model" "Once upon a time" --raw --design i3 --ladder "$ladder" --max-new-tokens 300 \
  --ignore-eos --repetition-penalty 1.1 \
  --json "$results/story.json" --trace "$results/story.trace.json"
say "boundaries crossed"
python3 scripts/designs_table.py --boundaries --at-least 3 "$results/story.json"

files=()
for design in b0 b1 i1 i2 i3; do
  begin=$SECONDS
  printf '\n[demo] %s: 32 prompt tokens and 420 forced ones …' "$design"
  "$ahead" run "$model" --design "$design" --ladder "$ladder" --force data/forced.txt \
    --prompt-tokens 32 --max-new-tokens 420 --json "$results/$design.json" --quiet >/dev/null
  printf ' %d s' "$((SECONDS - begin))"
  files+=("$results/$design.json")
done

printf '\n'
say "the designs on the same text (ladder $ladder)"
python3 scripts/designs_table.py "${files[@]}"
printf '\nResults and a timeline for https://ui.perfetto.dev (%s) are in %s\n' story.trace.json "$results"
