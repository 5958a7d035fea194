#!/usr/bin/env bash
# Installs what campaigns run beside Ahead into .deps/peers: llama.cpp (npm) and OpenVINO GenAI (PyPI).
#
# usage: lab/peers/setup.sh
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
printf 'peers: ready in %s\n' "$peers"
