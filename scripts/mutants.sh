#!/usr/bin/env bash
# Shows that the simulator finds mistakes: builds the runtime with one seeded mistake at a time
# (src/sim/mutants/mutants.py) and runs its seeds until one breaks a rule. Each mistake must be
# caught, and by the rule that its line names. A mistake whose text is no longer in the source fails
# here, and breaks no build.
#
# usage: scripts/mutants.sh [NAME...]        (all of them by default)
# environment: DEPS_DIR as for scripts/setup.sh; BUILD_DIR: a configured build instead of build/release
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"
build="${BUILD_DIR:-build/release}"
if [[ ! -f "$build/build.ninja" ]]; then
  deps="$(cd "${DEPS_DIR:-.deps}" && pwd)"
  cmake --preset release -DAHEAD_DEPS_DIR="$deps"
fi
cmake --build "$build" --target ahead_sim_driver
exec python3 -B src/sim/mutants/run.py --build "$build" "$@"
