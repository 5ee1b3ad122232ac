# SPDX-License-Identifier: Apache-2.0
# Sourced by tools/run and tools/test. Requires $root.
# shellcheck shell=bash disable=SC2154

# tools/bench/hacks --build measures these optimizations, and what a position-independent program costs, each against a program
# without it: YKIT_WITHOUT names what to omit (static, names, relr, size, single, pie).
release=(--package-path "$root" -c release)

# For a fast start, which is half of the run time of most verbs, the C++ library is linked statically, and the program
# exports no symbols and has no library search path of its own.
[ "${YKIT_WITHOUT-}" = static ] ||
    release+=(--static-swift-stdlib --disable-local-rpath -Xlinker --no-export-dynamic -Xlinker "-L$root/.build/static")

# Generic types are created by calls that name their parts instead of from mangled names, for which the runtime would read
# all conformances of the program.
[ "${YKIT_WITHOUT-}" = names ] ||
    release+=(-Xswiftc -Xfrontend -Xswiftc -disable-concrete-type-metadata-mangled-name-accessors)

# Hardening: position-independent code, all addresses resolved at startup, and read-only afterwards like all constants; C code
# with stack protector and checked buffers. 70,000 addresses are relocated at each start; lld packs their list (DT_RELR, glibc 2.36),
# so `ykit --virtual oath list` takes 3.4 ms of processor time instead of 4.9 with gold, Swift's default linker, and the
# program is 2 MB smaller.
release+=(-Xlinker -z -Xlinker now -Xlinker -z -Xlinker relro -Xcc -fstack-protector-strong -Xcc -D_FORTIFY_SOURCE=2)
[ "${YKIT_WITHOUT-}" = relr ] ||
    release+=(-Xswiftc -use-ld=lld -Xlinker -z -Xlinker pack-relative-relocs -Xlinker -T -Xlinker "$root/tools/build/constants.ld")

# For a small program: Swift code compiled for size takes 2 MB less and starts as fast; loops over long recordings take up to
# 9 % longer.
[ "${YKIT_WITHOUT-}" = size ] || release+=(-Xswiftc -Osize)

# One LLVM module for each Swift module instead of one for each file, which all have copies of what they share: the program is 5 %
# smaller, and starts in 4 to 8 % less time. A module's interface is written by the process that compiles it instead of by a second
# one that reads the sources again, which costs 7 % of the time of the build.
[ "${YKIT_WITHOUT-}" = single ] || release+=(-Xswiftc -Xfrontend -Xswiftc -enable-single-module-llvm-emission)
release+=(-Xswiftc -no-emit-module-separately-wmo)

# The same program in whatever folder it is built: file names in messages of C code and in the symbols begin with /ykit, and
# the symbols name no files of the compiler's own.
release+=(-Xswiftc -file-prefix-map -Xswiftc "$root=/ykit" -Xcc "-ffile-prefix-map=$root=/ykit"
    -Xswiftc -Xfrontend -Xswiftc -no-clang-module-breadcrumbs)

[ "${YKIT_WITHOUT-}" != pie ] || release+=(-Xlinker -no-pie)

# Copies the libraries to be linked statically to a place where the linker finds them.
static_libraries() {
    local folder=$root/.build/static compiler pair library
    compiler=$(command -v clang || command -v gcc) || return 0
    mkdir -p "$folder"
    for pair in libstdc++.a:libstdc++.a libgcc_eh.a:libgcc_s.a; do
        library=$("$compiler" -print-file-name="${pair%:*}")
        [ ! -e "$library" ] || ln -sf "$library" "$folder/${pair#*:}"
    done
}

# Removes a program that is older than the script that only the linker reads, which SwiftPM does not know.
remove_stale_program() {
    local built
    built=$(swift build "${release[@]}" --show-bin-path)/ykit
    [ ! "$root/tools/build/constants.ld" -nt "$built" ] || rm -f "$built"
}

# Sets YKIT to the path of the release program.
find_ykit() {
    YKIT=$root/.build/program/ykit
    export YKIT
}

# Strips the program into $YKIT, and its symbols into $YKIT.debug, where debuggers find them.
separate_symbols() {
    local built objcopy
    built=$(swift build "${release[@]}" --show-bin-path)/ykit
    [ ! "$YKIT" -nt "$built" ] || return 0
    objcopy=$(command -v objcopy || command -v llvm-objcopy || echo "$(dirname "$(readlink -f "$(command -v swift)")")/llvm-objcopy")
    mkdir -p "${YKIT%/*}" && "$objcopy" --only-keep-debug "$built" "$YKIT.debug" &&
        "$objcopy" --strip-all "$built" "$YKIT.new" && mv "$YKIT.new" "$YKIT" &&
        "$objcopy" --add-gnu-debuglink="$YKIT.debug" "$YKIT"
}

# Builds the release program, with Swift's libraries linked statically.
build_ykit() {
    if ! command -v swift >/dev/null; then
        echo "swift is not installed, or not in PATH: https://www.swift.org/install/linux" >&2
        return 1
    fi
    "$root/tools/build/install" build && static_libraries && remove_stale_program && swift build "${release[@]}" --product ykit && find_ykit &&
        separate_symbols
}
