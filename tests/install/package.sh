#!/usr/bin/env bash
# package.sh BUILD_DIR WORK_DIR: builds the Debian package and checks what it holds, what it says it
# needs, and, where lintian is installed, that lintian finds no error.
set -euo pipefail
build=$1 work=$2

rm -rf "$work/package"
mkdir -p "$work/package"
(cd "$work/package" && cpack --config "$build/CPackConfig.cmake" -G DEB -B "$PWD")
package=$(find "$work/package" -maxdepth 1 -name '*.deb')
contents=$(dpkg-deb --contents "$package" | awk '$1 !~ /^d/ { print $6 }' | sort)
echo "$contents"

for file in bin/segment bin/diacut-evaluate bin/diacut-bench include/diacut/segmenter.hpp lib/libdiacut.a \
  lib/cmake/diacut/diacutConfig.cmake share/diacut/configs/default.toml \
  share/doc/diacut/copyright share/doc/diacut/changelog.gz; do
  grep -qxF "./usr/$file" <<<"$contents" || { echo "missing: /usr/$file" >&2; exit 1; }
done
if grep -v '^\./usr/' <<<"$contents"; then
  echo "these are outside /usr" >&2
  exit 1
fi

depends=$(dpkg-deb --field "$package" Depends)
echo "Depends: $depends"
for needed in libopencv-core libopencv-imgcodecs libopencv-imgproc libopencl libfmt libmatio \
  libc6 libstdc++6; do
  [[ "$depends" == *"$needed"* ]] || { echo "does not depend on $needed" >&2; exit 1; }
done

if command -v lintian >/dev/null; then
  lintian --allow-root --fail-on error "$package"
fi
