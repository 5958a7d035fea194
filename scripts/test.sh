#!/usr/bin/env bash
# Builds and tests everything: the release build with every test, then the rooms without OpenVINO
# under AddressSanitizer + UBSan and under ThreadSanitizer. Sufficient alone on a fresh Debian 12;
# offline once scripts/setup.sh has run.
#
# usage: scripts/test.sh [PRESET...]      (release asan-ubsan tsan, by default all three)
# environment: DEPS_DIR as for scripts/setup.sh
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"
presets=("$@")
((${#presets[@]})) || presets=(release asan-ubsan tsan)

export ASAN_OPTIONS="detect_leaks=1:check_initialization_order=1:strict_init_order=1"
export UBSAN_OPTIONS="print_stacktrace=1"
export TSAN_OPTIONS="halt_on_error=1:second_deadlock_stack=1"

bash scripts/setup.sh --tests
deps="$(cd "${DEPS_DIR:-.deps}" && pwd)"

run_preset() { # PRESET
  local preset="$1" fixed=()
  # ThreadSanitizer of GCC 12 cannot place its shadow under the newer kernels' wider randomisation.
  # Building runs test programs too, to list their cases.
  if [[ "$preset" == tsan ]] && setarch "$(uname -m)" -R true 2>/dev/null; then
    fixed=(setarch "$(uname -m)" -R)
  fi
  printf '[test] %s: configuring and building …\n' "$preset"
  "${fixed[@]}" cmake --preset "$preset" -DAHEAD_DEPS_DIR="$deps" &&
    "${fixed[@]}" cmake --build --preset "$preset" -j2 &&
    "${fixed[@]}" ctest --preset "$preset" --no-tests=error -j 2 -L '^(unit|sim)$' || return
  # Tests that load a model share two cores with background compiles, and some of them time those.
  if [[ "$preset" == release ]]; then
    ctest --preset "$preset" --no-tests=error -j 1 -LE '^(unit|sim|npu-compiler)$'
  fi
}

failed=()
closing=()
for preset in "${presets[@]}"; do
  begin=$SECONDS
  if run_preset "$preset"; then verdict=passed; else
    verdict=FAILED
    failed+=("$preset")
  fi
  line="[test] $preset: $verdict in $((SECONDS - begin)) s"
  printf '%s\n' "$line"
  closing+=("$line")
done

printf '\n'
printf '%s\n' "${closing[@]}"
((${#failed[@]} == 0))
