#!/usr/bin/env bash
# package.sh BUILD_DIR WORK_DIR COMPILER SOURCE_DIR: builds the Debian packages and checks what they
# hold, what they say they need, that lintian (where it is installed) finds nothing but what is named
# below, and that programs can be built against them.
set -euo pipefail
build=$1 work=$2 compiler=$3 source=$4

rm -rf "$work/package"
mkdir -p "$work/package"
cd "$work/package"
cpack --config "$build/CPackConfig.cmake" -G DEB -B "$PWD" >cpack.log || { cat cpack.log >&2; exit 1; }
multiarch=$(dpkg-architecture --query DEB_HOST_MULTIARCH)

# check PACKAGE FILE...: the package holds each file, and nothing outside /usr.
check() {
  local package=$1 file contents
  shift
  [[ -e $(echo "$package"_*.deb) ]] || { echo "there should be one package $package" >&2; exit 1; }
  contents=$(dpkg-deb --contents "$package"_*.deb | awk '$1 !~ /^d/ { print $6 }' | sort)
  printf '%s:\n%s\n' "$package" "$contents"
  for file in "$@" "share/doc/$package/copyright" "share/doc/$package/changelog.gz"; do
    grep -qxF "./usr/$file" <<<"$contents" || { echo "$package lacks /usr/$file" >&2; exit 1; }
  done
  if grep -v '^\./usr/' <<<"$contents"; then
    echo "these files of $package are outside /usr" >&2
    exit 1
  fi
}

# needs PACKAGE NAME...: the package depends on packages whose names begin so.
needs() {
  local package=$1 name depends
  shift
  depends=$(dpkg-deb --field "$package"_*.deb Depends)
  echo "$package depends on: $depends"
  for name in "$@"; do
    [[ ", $depends" == *", $name"* ]] || { echo "$package does not depend on $name" >&2; exit 1; }
  done
}

program_files=(share/diacut/configs/default.toml "lib/$multiarch/diacut/diacut-formats.so")
for program in segment diacut-evaluate diacut-bench; do
  program_files+=("bin/$program" "share/man/man1/$program.1.gz"
    "share/bash-completion/completions/$program" "share/zsh/vendor-completions/_$program"
    "share/fish/vendor_completions.d/$program.fish")
done
check diacut "${program_files[@]}"
check libdiacut-dev include/diacut/segmenter.hpp "lib/$multiarch/libdiacut.a" \
  "lib/$multiarch/cmake/diacut/diacutConfig.cmake" "lib/$multiarch/pkgconfig/diacut.pc"
check diacut-doc share/doc/diacut-doc/README.md

needs diacut libopencv-core libopencv-imgproc ocl-icd-libopencl1 libfmt libgdal libheif1 \
  libc6 libstdc++6
needs libdiacut-dev diacut libfmt-dev libjpeg-dev libopencv-dev libpng-dev libtbb-dev libtiff-dev \
  libtomlplusplus-dev ocl-icd-opencl-dev zlib1g-dev
[[ "$(dpkg-deb --field diacut-doc_*.deb Architecture)" == all ]] ||
  { echo "diacut-doc should be for all architectures" >&2; exit 1; }

if command -v lintian >/dev/null; then
  lintian --allow-root --fail-on error,warning --suppress-tags-from-file \
    "$source/tests/install/lintian-suppressed" -- *.deb
fi

# Installed side by side, the packages serve a project outside.
for package in *.deb; do dpkg-deb --extract "$package" root; done
"$source/tests/install/consumer.sh" "$work" "$compiler" "$source" "$PWD/root/usr"
