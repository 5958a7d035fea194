#!/usr/bin/env bash
# Checks the form of the C++ sources: clang-format-16, and with --tidy clang-tidy-16 too.
#
# usage: scripts/lint.sh [--tidy] [FILE...]     (FILE: instead of every tracked source)
#        scripts/lint.sh [--tidy] --changed     only what changed, as scripts/test.sh does
# --tidy   reads build/lint/compile_commands.json, and writes it first where it is missing.
# --changed  what differs from where this branch left `main`, or on `main` itself from ten commits
#          before; where there are fewer, every source. Of those sources clang-tidy checks at most
#          LINT_MOST (6), those that changed most first, and names the others. A check of everything
#          is `scripts/lint.sh --tidy`.
# environment: LINT_BASE: compare with this commit instead; LINT_MOST; DEPS_DIR as for scripts/setup.sh
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
tidy=false
changed=false
files=()
for argument in "$@"; do
  case "$argument" in
    --tidy) tidy=true ;;
    --changed) changed=true ;;
    -*)
      printf 'lint.sh: unknown option %s; options are --tidy and --changed\n' "$argument" >&2
      exit 2
      ;;
    *) files+=("$(realpath "$argument")") ;;
  esac
done
cd "$root"

for tool in clang-format-16 $($tidy && echo clang-tidy-16); do
  command -v "$tool" >/dev/null || {
    printf 'lint.sh: %s is missing; run scripts/setup.sh --tools\n' "$tool" >&2
    exit 1
  }
done

say() { printf '[lint] %s\n' "$*"; }

# The commit to compare with; nothing where there is none.
base_of() {
  local candidate base
  if [[ -n "${LINT_BASE:-}" ]]; then
    git rev-parse --verify "$LINT_BASE^{commit}"
    return
  fi
  for candidate in origin/main main; do
    base="$(git merge-base HEAD "$candidate" 2>/dev/null)" || continue
    if [[ "$base" != "$(git rev-parse HEAD)" ]]; then
      printf '%s\n' "$base"
      return
    fi
  done
  git rev-parse --quiet --verify 'HEAD~10' || true
}

if $changed; then
  git rev-parse --git-dir >/dev/null 2>&1 || {
    say "this is no git work tree, so nothing says what changed; checking every source's format"
    tidy=false
  }
  base="$(base_of 2>/dev/null)"
  if [[ -n "$base" ]]; then
    say "what changed since $(git log -1 --format='%h (%s)' "$base")"
    mapfile -t files < <(git diff --no-renames --numstat --diff-filter=d "$base" -- '*.cc' '*.h' |
      sort -k 1,1nr -k 3 | cut -f 3)
    ((${#files[@]})) || {
      say "no source changed"
      exit 0
    }
  else
    say "no commit to compare with: the format of every source is checked, and clang-tidy's first ones"
  fi
fi
if ((${#files[@]} == 0)); then
  if git rev-parse --git-dir >/dev/null 2>&1; then
    mapfile -t files < <(git ls-files -- '*.cc' '*.h')
  else
    mapfile -t files < <(find include src apps bench tests cmake -name '*.cc' -o -name '*.h')
  fi
fi

clang-format-16 --dry-run --Werror "${files[@]}"
say "clang-format: ${#files[@]} files are in form"

if $tidy; then
  # Of its own: clang cannot read headers that GCC precompiled.
  database=build/lint
  if [[ ! -f "$database/compile_commands.json" ]]; then
    deps="$(cd "${DEPS_DIR:-.deps}" && pwd)"
    cmake --preset dev -B "$database" -DAHEAD_PCH=OFF -DAHEAD_DEPS_DIR="$deps" >/dev/null
  fi
  # Headers are checked through the sources that include them.
  sources=()
  for file in "${files[@]}"; do
    # upstream/ is built over a checkout of somebody else's, see its README.
    if [[ "$file" == *.cc && "$file" != upstream/* ]]; then sources+=("$file"); fi
  done
  most="${LINT_MOST:-6}"
  if $changed && ((${#sources[@]} > most)); then
    say "clang-tidy: not checked, beyond the $most that changed most: ${sources[*]:most}"
    sources=("${sources[@]:0:most}")
  fi
  if ((${#sources[@]})); then
    printf '%s\0' "${sources[@]}" | xargs -0 -n 1 -P 2 clang-tidy-16 --quiet -p "$database"
  fi
  say "clang-tidy: ${#sources[@]} sources are clean"
fi
