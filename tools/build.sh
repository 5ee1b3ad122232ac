# SPDX-License-Identifier: Apache-2.0
# For tools/run and tools/test. Expects $root.
# shellcheck shell=bash disable=SC2154

release=(--package-path "$root" -c release --static-swift-stdlib)

# Sets YKIT to the path of the release ykit.
find_ykit() {
    YKIT=$(swift build "${release[@]}" --show-bin-path)/ykit
    export YKIT
}

# Builds the release ykit, with Swift's own libraries inside.
build_ykit() {
    if ! command -v swift >/dev/null; then
        echo "swift is not installed, or not in PATH: https://www.swift.org/install/linux" >&2
        return 1
    fi
    "$root/tools/install" build && swift build "${release[@]}" --product ykit && find_ykit
}
