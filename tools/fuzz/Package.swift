// swift-tools-version: 6.1
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let libraries = [
    "YKWire", "YKTransport", "YKCapture", "YKNFC", "YKToken", "YKOATH", "YKFIDO", "YKManagement", "YKPIV", "YKHSMAuth",
    "YKSecrets", "YKOpenPGP", "YKSecureChannel", "YKSecurityDomain", "YKSSH", "YKAge", "YKHTTP", "YKRelyingParty",
    "YKArculus", "YKPrivacyIDEA", "YKCrypto", "YKX509", "YKSecurID", "YKCTKIP", "YKApproval", "YKStore", "YKLUKS",
    "YKBridge",
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
