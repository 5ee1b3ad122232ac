// swift-tools-version: 6.1
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// A program in `Sources/NAME`; with `YKit` alone it needs nothing of libcurl, neither its headers nor the library.
func sample(_ name: String, _ libraries: [String] = ["YKit"]) -> Target {
    .executableTarget(
        name: name, dependencies: libraries.map { .product(name: $0, package: "ykit") },
        swiftSettings: [.swiftLanguageMode(.v6)])
}

let package = Package(
    name: "ykit-samples",
    dependencies: [.package(name: "ykit", path: "../..")],
    targets: ["watch", "codes", "pin-dialog", "certificate", "password"].map { sample($0) }
        + [
            sample("sign-in", ["YKit", "YKRelyingParty"]), sample("securid", ["YKit", "YKSecurID"]),
            sample("ssh-sign", ["YKit", "YKSSH"]), sample("age-key", ["YKit", "YKAge"]),
            sample("approve", ["YKit", "YKApproval", "YKHTTP"]),
            sample("second-factor", ["YKit", "YKSecondFactor", "YKPrivacyIDEA", "YKHTTP"]),
        ])
