#!/usr/bin/env bash
# Builds and tests everything. Sufficient alone on a fresh Debian 12; offline once it has run there.
#
# usage: scripts/test.sh [PART...]      (by default all)
#   release     every test in the release build; warnings are errors
#   asan-ubsan  the rooms without OpenVINO under AddressSanitizer and UBSan
#   tsan        the tests with threads, of the same rooms, under ThreadSanitizer
#   mutants     scripts/mutants.sh: the simulator finds seeded mistakes
#   lint        scripts/lint.sh: every source's format, and clang-tidy on what changed
# environment: DEPS_DIR as for scripts/setup.sh
#
# Both cores stay busy: what need not have the machine alone runs beside something else, at a lower
# priority, and its output is shown when it ends.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"
known=(release asan-ubsan tsan mutants lint)
parts=("$@")
((${#parts[@]})) || parts=("${known[@]}")
for part in "${parts[@]}"; do
  [[ " ${known[*]} " == *" $part "* ]] || {
    printf 'test.sh: no part is called %s; parts are: %s\n' "$part" "${known[*]}" >&2
    exit 2
  }
done
wanted() { [[ " ${parts[*]} " == *" $1 "* ]]; }

export ASAN_OPTIONS="detect_leaks=1:check_initialization_order=1:strict_init_order=1"
export UBSAN_OPTIONS="print_stacktrace=1"
export TSAN_OPTIONS="halt_on_error=1:second_deadlock_stack=1"
# ThreadSanitizer of GCC 12 cannot place its shadow under the newer kernels' wider randomisation.
fixed=()
if setarch "$(uname -m)" -R true 2>/dev/null; then fixed=(setarch "$(uname -m)" -R); fi

closing=()
declare -A failed=()
begin_all=$SECONDS

# Notes what a part's step came to. A part fails with any of its steps.
note() { # PART STEP SECONDS STATUS
  local verdict=passed
  if (($4 != 0)); then
    verdict=FAILED
    failed[$1]=1
  fi
  closing+=("$(printf '[test] %-10s %-26s %s in %d s' "$1" "$2" "$verdict" "$3")")
  printf '%s\n' "${closing[-1]}"
}

step() { # PART STEP COMMAND...
  local part="$1" what="$2" begin=$SECONDS status=0
  shift 2
  printf '[test] %s: %s …\n' "$part" "$what"
  "$@" || status=$?
  note "$part" "$what" "$((SECONDS - begin))" "$status"
  return "$status"
}

beside_pid=""
beside() { # COMMAND... ; its output goes to a file, its seconds and status into its last line
  log="$(mktemp)"
  (
    begin=$SECONDS status=0
    renice -n 19 -p "$BASHPID" >/dev/null
    "$@" >"$log" 2>&1 </dev/null || status=$?
    printf '%d %d\n' "$((SECONDS - begin))" "$status" >"$log.end"
  ) &
  beside_pid=$!
  # shellcheck disable=SC2064
  trap "pkill -P $beside_pid 2>/dev/null; kill $beside_pid 2>/dev/null || true; rm -f $log $log.end" EXIT
}

join() { # PART STEP ; what beside() began has ended
  local seconds status
  wait "$beside_pid" || true
  read -r seconds status <"$log.end" || { seconds=0 status=1; }
  if ((status != 0)); then cat "$log"; else tail -n 3 "$log"; fi
  rm -f "$log" "$log.end"
  trap - EXIT
  note "$1" "$2" "$seconds" "$status"
  return "$status"
}

build() { # PRESET
  cmake --preset "$1" -DAHEAD_DEPS_DIR="$deps" -DAHEAD_WERROR=ON && cmake --build --preset "$1" -j2
}

# Builds that nobody waits for yet, one after the other.
build_sanitizers() {
  local preset status=0
  for preset in asan-ubsan tsan; do
    if wanted "$preset"; then build "$preset" || status=1; fi
  done
  return "$status"
}

tests() { # PRESET CTEST-OPTION... ; fresh seeds of the simulator are told
  local preset="$1"
  shift
  ctest --preset "$preset" --no-tests=error "$@" || return
  grep -h '^fresh seeds' "build/$preset/Testing/Temporary/LastTest.log" 2>/dev/null || true
}

lint() {
  scripts/lint.sh && scripts/lint.sh --tidy --changed
}

tools=()
if wanted lint; then tools=(--tools); fi
bash scripts/setup.sh --tests "${tools[@]}"
export DEPS_DIR="${DEPS_DIR:-.deps}"
deps="$(cd "$DEPS_DIR" && pwd)"

built=0
if wanted release || wanted mutants; then
  step release build build release && built=1
fi
if ((built)) && wanted release; then
  step release "unit tests, seeds" tests release -j 2 -L '^(unit|sim)$' || true
fi

sanitized=0
if wanted asan-ubsan || wanted tsan; then
  if ((built)) && wanted release; then
    # The tests that need the machine alone come last.
    beside build_sanitizers
    step release "models, cuts, command line" tests release -j 2 -L '^openvino$' -LE '^alone$' || true
    join sanitizers build && sanitized=1
  else
    step sanitizers build build_sanitizers && sanitized=1
  fi
elif ((built)) && wanted release; then
  step release "models, cuts, command line" tests release -j 2 -L '^openvino$' -LE '^alone$' || true
fi
if ((sanitized)) && wanted asan-ubsan; then
  step asan-ubsan "unit tests, seeds" tests asan-ubsan -j 2 || true
fi
if ((sanitized)) && wanted tsan; then
  step tsan "tests with threads" "${fixed[@]}" ctest --preset tsan --no-tests=error -j 2 || true
fi
if ((built)) && wanted mutants; then step mutants "seeded mistakes" scripts/mutants.sh || true; fi
if wanted lint; then step lint "format, clang-tidy" lint || true; fi
if ((built)) && wanted release; then
  step release "Ctrl-C, hidden compiles" tests release -j 1 -L '^alone$' || true
fi

printf '\n'
printf '%s\n' "${closing[@]}"
printf '[test] %s in %d s\n' "$( ((${#failed[@]})) && echo "FAILED: ${!failed[*]}" || echo "all passed")" \
  "$((SECONDS - begin_all))"
((${#failed[@]} == 0))
