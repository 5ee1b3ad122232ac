# SPDX-License-Identifier: Apache-2.0
# For tools/run and tools/test. Expects $root.
# shellcheck shell=bash disable=SC2154

# The tricks below are measured by tools/bench/hacks --build, each against a program without it: YKIT_WITHOUT names the one
# that is left out (static, names, relr), and YKIT_FIXED=1 leaves the program at a fixed place.
release=(--package-path "$root" -c release)

# The program starts fast, which is half of the time of most verbs: the C++ library is inside it, it has no symbols for
# others to look up and no folder of its own to look for libraries.
[ "${YKIT_WITHOUT-}" = static ] ||
    release+=(--static-swift-stdlib --disable-local-rpath -Xlinker --no-export-dynamic -Xlinker "-L$root/.build/static")

# Generic types are made by calls that name their parts, not from mangled names, for which the runtime reads all
# conformances of the program.
[ "${YKIT_WITHOUT-}" = names ] ||
    release+=(-Xswiftc -Xfrontend -Xswiftc -disable-concrete-type-metadata-mangled-name-accessors)

# Hardening: position-independent, every address resolved at the start and read-only from then on, C code with stack
# protector and checked buffers. 72,000 addresses are relocated at each start; lld packs their list (DT_RELR, glibc 2.36),
# by which `ykit --virtual oath list` takes 3.4 ms of processor time instead of 4.9 with gold, which Swift takes by itself, and
# the program is 2 MB smaller.
release+=(-Xlinker -z -Xlinker now -Xlinker -z -Xlinker relro -Xcc -fstack-protector-strong -Xcc -D_FORTIFY_SOURCE=2)
[ "${YKIT_WITHOUT-}" = relr ] || release+=(-Xswiftc -use-ld=lld -Xlinker -z -Xlinker pack-relative-relocs)
[ "${YKIT_FIXED:-0}" = 0 ] || release+=(-Xlinker -no-pie)

# Puts the libraries that are to be inside the program where the linker looks for them.
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
    YKIT=$root/.build/program/ykit
    export YKIT
}

# Puts the program without its symbols at $YKIT, and the symbols at $YKIT.debug, where debuggers find them.
separate_symbols() {
    local built objcopy
    built=$(swift build "${release[@]}" --show-bin-path)/ykit
    [ ! "$YKIT" -nt "$built" ] || return 0
    objcopy=$(command -v objcopy || command -v llvm-objcopy || echo "$(dirname "$(readlink -f "$(command -v swift)")")/llvm-objcopy")
    mkdir -p "${YKIT%/*}" && "$objcopy" --only-keep-debug "$built" "$YKIT.debug" &&
        "$objcopy" --strip-all "$built" "$YKIT.new" && mv "$YKIT.new" "$YKIT" &&
        "$objcopy" --add-gnu-debuglink="$YKIT.debug" "$YKIT"
}

# Builds the release ykit, with Swift's own libraries inside.
build_ykit() {
    if ! command -v swift >/dev/null; then
        echo "swift is not installed, or not in PATH: https://www.swift.org/install/linux" >&2
        return 1
    fi
    "$root/tools/install" build && static_libraries && swift build "${release[@]}" --product ykit && find_ykit &&
        separate_symbols
}
