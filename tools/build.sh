# SPDX-License-Identifier: Apache-2.0
# For tools/run and tools/test. Expects $root.
# shellcheck shell=bash disable=SC2154

# What makes the program start fast, which is half of the time of most verbs: the C++ library inside it, no symbols for
# others to look up, no folder of its own to look for libraries, and a fixed place, so that nothing of it is relocated.
# Stack, heap and libraries are still placed at random; who wants that of the program itself as well sets YKIT_PIE=1.
# Generic types are made by calls that name their parts, not from mangled names, for which the runtime reads all
# conformances of the program.
release=(--package-path "$root" -c release --static-swift-stdlib --disable-local-rpath -Xlinker --no-export-dynamic)
release+=(-Xswiftc -Xfrontend -Xswiftc -disable-concrete-type-metadata-mangled-name-accessors)
[ "${YKIT_PIE:-0}" = 1 ] || release+=(-Xlinker -no-pie)

# Puts the libraries that are to be inside the program where Package.swift has them looked for.
static_libraries() {
    local folder=$root/.build/static compiler pair library
    compiler=$(command -v clang || command -v gcc) || return 0
    mkdir -p "$folder"
    for pair in libstdc++.a:libstdc++.a libgcc_eh.a:libgcc_s.a; do
        library=$("$compiler" -print-file-name="${pair%:*}")
        [ ! -e "$library" ] || ln -sf "$library" "$folder/${pair#*:}"
    done
}

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
    "$root/tools/install" build && static_libraries && swift build "${release[@]}" --product ykit && find_ykit
}
