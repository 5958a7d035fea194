#!/usr/bin/env bash
# Checks async_deps_info.patch against a checkout of openvinotoolkit/npu_compiler: that it applies cleanly, that it
# only adds lines, and that the class answers as before: both states of the two files are built over standins.h and
# asked the same at random. The checkout is not changed.
#
# usage: upstream/npu_compiler/check.sh CHECKOUT [COMMIT]      (a work tree or a bare repository; default HEAD)
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
checkout="${1:?usage: check.sh CHECKOUT [COMMIT]}"
commit="${2:-HEAD}"
patch="$here/async_deps_info.patch"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT

removed="$(grep -c '^-[^-]' "$patch" || true)"
if ((removed != 0)); then
  printf 'check: the patch removes %d lines, and it should only add\n' "$removed" >&2
  exit 1
fi

header=src/vpux_compiler/include/vpux/compiler/core/async_deps_info.hpp
source=src/vpux_compiler/src/core/async_deps_info.cpp
for state in before after; do
  for file in "$header" "$source"; do
    mkdir -p "$scratch/$state/$(dirname "$file")"
    git -C "$checkout" show "$commit:$file" >"$scratch/$state/$file"
  done
done
(cd "$scratch/after" && git init -q . && git apply --verbose "$patch")

# Every other header that the two include is the stand-in's.
for name in vpux/utils/core/{func_ref,small_vector,array_ref,range,logger}.hpp \
  vpux/compiler/utils/attributes.hpp mlir/Dialect/Async/IR/Async.h mlir/Dialect/Func/IR/FuncOps.h \
  mlir/IR/{BuiltinOps,Operation}.h llvm/ADT/{DenseSet,BitVector}.h; do
  mkdir -p "$scratch/standins/$(dirname "$name")"
  printf '#include "standins.h"\n' >"$scratch/standins/$name"
done
for state in before after; do
  c++ -std=c++17 -O1 -g -fsanitize=address,undefined -Wall -Wno-unused-variable -I "$here" -I "$scratch/standins" \
    -I "$scratch/$state/src/vpux_compiler/include" -o "$scratch/$state/test" \
    "$here/property_test.cc" "$scratch/$state/$source"
  "$scratch/$state/test" >"$scratch/$state/answers"
done
cmp "$scratch/before/answers" "$scratch/after/answers"
printf 'check: applies to %s, adds %d lines, and %d answers are equal\n' \
  "$(git -C "$checkout" rev-parse --short=12 "$commit")" "$(grep -c '^+[^+]' "$patch")" \
  "$(wc -l <"$scratch/after/answers")"
