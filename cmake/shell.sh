# SPDX-License-Identifier: MIT
# What the project's scripts share: messages, installing missing Debian packages, and the number of compiler processes.

# What configuring and building everything needs.
build_packages=(g++ cmake ninja-build doctest-dev libeigen3-dev libfmt-dev libpng-dev libcxxopts-dev ocl-icd-opencl-dev
                pocl-opencl-icd)
# What tests/format.sh and tests/cross/run.sh need besides.
format_packages=(clang-format-14)
cross_packages=(cmake ninja-build doctest-dev g++-aarch64-linux-gnu qemu-user)

say() { printf '== %s\n' "$*"; }

package_is_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# require_packages PACKAGE...: installs those that are missing, or says which they are when that takes another user.
require_packages() {
  command -v dpkg-query >/dev/null || { say "not a Debian system: expecting what Debian calls $*"; return 0; }
  local package missing=()
  for package in "$@"; do package_is_installed "$package" || missing+=("$package"); done
  [ ${#missing[@]} -eq 0 ] && return 0
  if [ "$(id -u)" -ne 0 ]; then
    printf 'Missing packages. As root, run:\n  apt-get install %s\n' "${missing[*]}" >&2
    return 1
  fi
  say "installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 "${missing[@]}" >/dev/null
}

# The processors at hand, or fewer where memory is short: a compiler process may take 2 GB.
jobs() {
  local processors by_memory
  processors=$(nproc)
  by_memory=$(awk '/^MemAvailable/ { print int($2 / 2000000) }' /proc/meminfo)
  [ "$by_memory" -ge 1 ] || by_memory=1
  echo $((processors < by_memory ? processors : by_memory))
}

# build_preset PRESET [TARGET...]: configures build/PRESET, with what stands in the array configure_options, and builds the
# targets, all of them by default.
configure_options=()
build_preset() {
  local preset=$1 target targets=()
  shift
  for target in "$@"; do targets+=(--target "$target"); done
  say "building preset $preset${*:+: $*}"
  cmake --preset "$preset" "${configure_options[@]}" --log-level=WARNING
  cmake --build --preset "$preset" --parallel "$(jobs)" "${targets[@]}"
}

# peers_python: the Python that has numpy, onnx and onnxruntime: the one that PEERS_PYTHON names, or that of
# build/venv, which is made when it is missing.
peers_python() {
  local python=${PEERS_PYTHON:-build/venv/bin/python}
  if [ -z "${PEERS_PYTHON:-}" ] && ! "$python" -c 'import numpy, onnx, onnxruntime' 2>/dev/null; then
    say "installing numpy, onnx and onnxruntime into build/venv" >&2
    require_packages python3-venv >&2
    python3 -m venv build/venv
    "$python" -m pip install --quiet numpy onnx onnxruntime >&2
  fi
  printf '%s\n' "$python"
}
