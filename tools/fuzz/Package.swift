// swift-tools-version: 6.1
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "ykit-fuzz",
    dependencies: [.package(name: "ykit", path: "../..")],
    targets: [
        .executableTarget(
            name: "ykfuzz",
            dependencies: [
                .product(name: "YKWire", package: "ykit"),
                .product(name: "YKTransport", package: "ykit"),
                .product(name: "YKCapture", package: "ykit"),
                .product(name: "YKNFC", package: "ykit"),
                .product(name: "YKToken", package: "ykit"),
                .product(name: "YKOATH", package: "ykit"),
                .product(name: "YKFIDO", package: "ykit"),
                .product(name: "YKManagement", package: "ykit"),
                .product(name: "YKPIV", package: "ykit"),
                .product(name: "YKHSMAuth", package: "ykit"),
                .product(name: "YKSecrets", package: "ykit"),
                .product(name: "YKOpenPGP", package: "ykit"),
                .product(name: "YKSecureChannel", package: "ykit"),
                .product(name: "YKSecurityDomain", package: "ykit"),
                .product(name: "YKSSH", package: "ykit"),
                .product(name: "YKAge", package: "ykit"),
                .product(name: "YKHTTP", package: "ykit"),
                .product(name: "YKRelyingParty", package: "ykit"),
                .product(name: "YKArculus", package: "ykit"),
                .product(name: "YKPrivacyIDEA", package: "ykit"),
                .product(name: "YKCrypto", package: "ykit"),
                .product(name: "YKX509", package: "ykit"),
                .product(name: "YKSecurID", package: "ykit"),
                .product(name: "YKCTKIP", package: "ykit"),
                .product(name: "YKApproval", package: "ykit"),
                .product(name: "YKStore", package: "ykit"),
                .product(name: "YKLUKS", package: "ykit"),
                .product(name: "YKBridge", package: "ykit"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .unsafeFlags(["-parse-as-library"])],
            linkerSettings: [.unsafeFlags(["-use-ld=lld"])])
    ]
)
