#!/usr/bin/env bash
# Checks the form of the C++ sources: clang-format-16, and with --tidy clang-tidy-16 too.
#
# usage: scripts/lint.sh [--tidy] [FILE...]     (FILE: instead of every tracked source)
# --tidy reads build/dev/compile_commands.json, which `cmake --preset dev` writes.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
tidy=false
files=()
for argument in "$@"; do
  case "$argument" in
    --tidy) tidy=true ;;
    -*)
      printf 'lint.sh: unknown option %s; there is only --tidy\n' "$argument" >&2
      exit 2
      ;;
    *) files+=("$(realpath "$argument")") ;;
  esac
done
cd "$root"
((${#files[@]})) || mapfile -t files < <(git ls-files -- '*.cc' '*.h')

for tool in clang-format-16 $($tidy && echo clang-tidy-16); do
  command -v "$tool" >/dev/null || {
    printf 'lint.sh: %s is missing; run scripts/setup.sh --tools\n' "$tool" >&2
    exit 1
  }
done

clang-format-16 --dry-run --Werror "${files[@]}"
printf '[lint] clang-format: %d files are in form\n' "${#files[@]}"

if $tidy; then
  database=build/dev
  [[ -f "$database/compile_commands.json" ]] || {
    printf 'lint.sh: %s has no compile_commands.json; run cmake --preset dev\n' "$database" >&2
    exit 1
  }
  # Headers are checked through the sources that include them.
  sources=()
  for file in "${files[@]}"; do
    if [[ "$file" == *.cc ]]; then sources+=("$file"); fi
  done
  if ((${#sources[@]})); then
    printf '%s\0' "${sources[@]}" | xargs -0 -n 1 -P 2 clang-tidy-16 --quiet -p "$database"
  fi
  printf '[lint] clang-tidy: %d sources are clean\n' "${#sources[@]}"
fi
