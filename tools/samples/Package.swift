// swift-tools-version: 6.1
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// A program in `Sources/NAME`.
func sample(_ name: String) -> Target {
    .executableTarget(
        name: name,
        dependencies: ["YKit", "YKRelyingParty"].map { .product(name: $0, package: "ykit") },
        swiftSettings: [.swiftLanguageMode(.v6)])
}

let package = Package(
    name: "ykit-samples",
    dependencies: [.package(name: "ykit", path: "../..")],
    targets: ["watch", "codes", "sign-in", "pin-dialog", "certificate", "password"].map(sample))
