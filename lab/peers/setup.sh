#!/usr/bin/env bash
# Installs what campaigns run beside Ahead into .deps/peers: llama.cpp (npm) and OpenVINO GenAI (PyPI).
#
# usage: lab/peers/setup.sh [--models]
#   --models  also the FP16 forms of models that campaigns peers and one-ahead want, 1.5 GB (after
#             scripts/setup.sh --models)
# environment: DEPS_DIR as for scripts/setup.sh; PYTHON, a Python from 3.11 on
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
deps="${DEPS_DIR:-$here/../../.deps}"
peers="$deps/peers"
mkdir -p "$peers"

command -v npm >/dev/null || {
  printf 'peers: npm is missing; on Debian 12: apt-get install nodejs npm\n' >&2
  exit 1
}
cp "$here/package.json" "$here/package-lock.json" "$peers/"
npm ci --prefix "$peers" --ignore-scripts --no-audit --no-fund

[[ -x "$peers/venv/bin/python" ]] || "${PYTHON:-python3}" -m venv "$peers/venv"
"$peers/venv/bin/python" -m pip install --disable-pip-version-check --quiet --no-deps --require-hashes \
  -r "$here/requirements.txt"
if [[ "${1:-}" == --models ]]; then
  "$peers/venv/bin/python" "$here/make_fp16_ir.py" "$deps/model/SmolLM2-135M-Instruct.Q4_1.gguf" "$peers/smollm2-fp16"
  "$peers/venv/bin/python" "$here/unfold_gguf.py" "$deps/models/Qwen2.5-Coder-0.5B-Instruct.Q4_K_M.gguf" \
    "$peers/qwen2.5-coder-0.5b-f16.gguf"
fi
printf 'peers: ready in %s\n' "$peers"
