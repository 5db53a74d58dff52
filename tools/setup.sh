#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what cogen needs on Debian 12, builds it in build/, and runs the front kernel on the emulator against the reference.
set -eu
cd "$(dirname "$0")/.."

missing=$(xargs dpkg-query -W -f '${Package} ${db:Status-Abbrev}\n' <tools/packages.txt 2>&1 | grep -v ' ii *$' || true)
if [ -n "$missing" ]; then
    as_root=$([ "$(id -u)" = 0 ] || echo sudo)
    $as_root apt-get update -q
    xargs $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends <tools/packages.txt
fi

cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release
cmake --build build
build/bin/cogen verify --kernel front --model v41-flash --tokens 4 --tp 4 --ratio 2
