// swift-tools-version: 6.1
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// `YKit` has the libraries of a key; these are the others that decode something.
let libraries = [
    "YKit", "YKSSH", "YKAge", "YKHTTP", "YKRelyingParty", "YKArculus", "YKPrivacyIDEA", "YKSecurID", "YKCTKIP",
    "YKApproval", "YKAttestation", "YKLUKS", "YKBridge",
]

let package = Package(
    name: "ykit-fuzz",
    dependencies: [.package(name: "ykit", path: "../..")],
    targets: [
        .executableTarget(
            name: "ykfuzz",
            dependencies: libraries.map { .product(name: $0, package: "ykit") },
            swiftSettings: [.swiftLanguageMode(.v6), .unsafeFlags(["-parse-as-library"])],
            linkerSettings: [.unsafeFlags(["-use-ld=lld"])])
    ]
)
