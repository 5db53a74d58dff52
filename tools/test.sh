#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the tests: the optimised build, then the same under AddressSanitizer and UndefinedBehaviorSanitizer.
# --release-only leaves the second half out.
set -eu
cd "$(dirname "$0")/.."

cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release
cmake --build build
cmake --build build --target check
[ "${1:-}" = --release-only ] && exit 0
cmake -S . -B build-sanitize -G Ninja -DCMAKE_BUILD_TYPE=Release -DCOGEN_SANITIZE=ON
cmake --build build-sanitize
cmake --build build-sanitize --target check
