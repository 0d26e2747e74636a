# Shared by ./run and ./test: everything a fresh machine needs, installed once and checked fast.
# Sourced with the working directory at the root of the tree.

set -euo pipefail

root=$PWD
venv=$root/.venv
say() { printf '\033[1m%s\033[0m\n' "$*" >&2; }
die() { printf '%s\n' "$*" >&2; exit 1; }

# -- system packages: what is missing of these is installed, or named
need_packages() {
  local wanted=()
  command -v g++ >/dev/null || wanted+=(g++)
  command -v cmake >/dev/null || wanted+=(cmake)
  command -v ninja >/dev/null || wanted+=(ninja-build)
  command -v pkg-config >/dev/null || wanted+=(pkg-config)
  command -v ccache >/dev/null || wanted+=(ccache)
  command -v mold >/dev/null || wanted+=(mold)
  [ -e /usr/include/gtest/gtest.h ] || wanted+=(libgtest-dev)
  [ -e /usr/include/xbyak/xbyak.h ] || wanted+=(libxbyak-dev)
  [ -e /usr/include/zlib.h ] || wanted+=(zlib1g-dev)
  [ -e /usr/include/jpeglib.h ] || wanted+=(libjpeg62-turbo-dev)
  [ -e /usr/include/png.h ] || wanted+=(libpng-dev)
  [ -e /usr/include/re2/re2.h ] || wanted+=(libre2-dev)
  compgen -G '/usr/include/*/openblas-pthread/cblas.h' >/dev/null || wanted+=(libopenblas-pthread-dev)
  python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || wanted+=(python3 python3-venv)
  python3 -c 'import os, sysconfig, sys; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' 2>/dev/null \
    || wanted+=(python3-dev)
  install_packages "${wanted[@]}"
}
need_clang() { command -v clang++-16 >/dev/null || install_packages clang-16; }
install_packages() {
  local missing=("$@")
  [ ${#missing[@]} -eq 0 ] && return
  local command="apt-get install -y --no-install-recommends ${missing[*]}"
  if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    say "Installing ${missing[*]}"
    { apt-get update && DEBIAN_FRONTEND=noninteractive $command; } >"$root/build/apt.log" 2>&1 \
      || die "Installing failed; see build/apt.log. The command was: $command"
  else
    die "These packages are missing. Please run:  sudo $command"
  fi
}

# -- the virtual environment
python_packages=(numpy nanobind==3.1.0 scikit-build-core==1.1.1 onednn-devel-cpu-gomp==2023.2.0 pytest hypothesis scipy scikit-learn h5py
  clang-format==23.1.3 ruff==0.17.4 mypy==2.4.1)
tidy_package=clang-tidy==23.1.4
need_venv() {
  local stamp=$venv/.packages wanted="${python_packages[*]}"
  [ -x "$venv/bin/python" ] || { say "Making .venv"; python3 -m venv "$venv"; }
  [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && return
  say "Installing Python packages"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "${python_packages[@]}" >"$root/build/pip.log" 2>&1 \
    || { tail -n 20 "$root/build/pip.log" >&2; die "pip failed; see build/pip.log"; }
  printf '%s' "$wanted" >"$stamp"
}

# -- the real Keras, which tests exchange files with, in an environment of its own. Without a network there is none, and those
# tests say so.
keras_packages=(keras==3.15.1 jax==0.10.2 h5py==3.16.0 numpy==2.4.6)
need_keras() {
  local place=$root/.venv-keras log=$root/build/keras-pip.log wanted="${keras_packages[*]}"
  local stamp=$place/.packages
  [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && return
  say "Making .venv-keras"
  rm -f "$stamp"
  { python3 -m venv "$place" && "$place/bin/python" -m pip install --quiet --disable-pip-version-check --retries 2 --timeout 20 \
      "${keras_packages[@]}"; } >"$log" 2>&1 || { say "No real Keras: see build/keras-pip.log"; return 0; }
  printf '%s' "$wanted" >"$stamp"
}

# -- the build: one line of progress, the log in a file
show_progress() {
  if [ -t 2 ]; then
    awk '/^\[[0-9]+\/[0-9]+\]/ { split(substr($1, 2), p, /[\/\]]/); printf "\rBuilding %d of %d ", p[1], p[2] > "/dev/stderr"; shown = 1 }
         END { if (shown) printf "\n" > "/dev/stderr" }'
  else
    awk '/^\[[0-9]+\/[0-9]+\]/ { split(substr($1, 2), p, /[\/\]]/); k = int(10 * p[1] / p[2]); if (k > last) { printf "Building: %d0 %%\n", k > "/dev/stderr"; last = k } }'
  fi
}
build() {  # build PRESET [CMAKE OPTIONS...]
  local preset=$1; shift
  local dir=$root/build/$preset log=$root/build/$preset.log
  if [ ! -f "$dir/build.ninja" ]; then
    cmake --preset "$preset" -DCMAKE_PREFIX_PATH="$venv" -DPython_EXECUTABLE="$venv/bin/python" -DPython_ROOT_DIR="$venv" "$@" >"$log" 2>&1 \
      || { tail -n 20 "$log" >&2; die "cmake failed; see $log"; }
  fi
  ninja -C "$dir" 2>&1 | tee "$log" | show_progress \
    || { grep -E -A 5 'error|FAILED' "$log" | head -n 40 >&2; die "The build failed; see $log"; }
}

# -- the package, into .venv
install_package() {  # install_package PRESET
  local site; site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  rm -rf "$site/holdfast"  # no file may stay that the tree has no more
  cmake --install "build/$1" --component python --prefix "$site/holdfast" >"$root/build/install.log" 2>&1 \
    && cmake --install "build/$1" --component python_sources --prefix "$site/holdfast" >>"$root/build/install.log" 2>&1 \
    || { tail -n 20 "$root/build/install.log" >&2; die "installing failed; see build/install.log"; }
  "$venv/bin/python" -m compileall -q "$site/holdfast"  # as pip does: else each process may compile anew
  local command=$venv/bin/holdfast
  printf '#!%s\nimport sys\nfrom holdfast.__main__ import main\nsys.exit(main())\n' "$venv/bin/python" >"$command"
  chmod +x "$command"
}

mkdir -p build
need_packages
need_venv
