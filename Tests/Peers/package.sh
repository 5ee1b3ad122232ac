#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A package that depends on ykit by URL and version: SwiftPM refuses dependencies with unsafe flags, except those given by
# path. Builds a program that imports the umbrella library and uses a virtual key.
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d "${YKIT_TEST_TMP:-/tmp}/package.XXXXXX")
trap 'rm -rf "$work"' EXIT
failed=0

expect() {
    local what=$1
    shift
    if "$@" >"$work/log" 2>&1; then echo "ok $what"; else
        echo "FAIL $what"
        tail -20 "$work/log"
        failed=1
    fi
}

# The working tree as version 9.9.9 of a temporary repository.
publish() {
    mkdir "$work/ykit" && (cd "$root" && git ls-files -z --cached --others --exclude-standard Package.swift Sources Tests/Support |
        tar --null --ignore-failed-read -T - -cf -) 2>/dev/null | tar -xf - -C "$work/ykit" &&
        sed -i '/^        test(/,$d' "$work/ykit/Package.swift" && echo '    ])' >>"$work/ykit/Package.swift" &&
        cd "$work/ykit" && git init -q && git add -A &&
        git -c user.name=ykit -c user.email=ykit@example.com commit -qm 9.9.9 && git tag 9.9.9
}

use() {
    mkdir -p "$work/user/Sources/user" && cd "$work/user" &&
        cat >Package.swift <<END &&
// swift-tools-version: 6.1
import PackageDescription
let package = Package(
    name: "user",
    dependencies: [.package(url: "file://$work/ykit", exact: "9.9.9")],
    targets: [.executableTarget(name: "user", dependencies: [.product(name: "YKit", package: "ykit")])])
END
        cat >Sources/user/main.swift <<'END' &&
import YKit
let key = try await KeyRing(source: .virtual(.demonstration())).only()
let oath = try await key.open(OATHService.self)
for entry in try await oath.codes() { print(entry.account.id) }
await oath.close()
END
        swift build --product user -Xcc -g0 && swift run --skip-build user >accounts && grep -x Acme:alice@example.com accounts
}

unsafe() { cd "$root" && ! grep -n unsafeFlags Package.swift; }

expect "the package has no unsafe flags" unsafe
expect "it is a repository with a version" publish
expect "a program imports YKit by URL and version" use
exit "$failed"
