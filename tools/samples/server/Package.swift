// swift-tools-version: 6.1
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "passkey-server",
    platforms: [.macOS(.v14)],
    dependencies: [
        .package(name: "ykit", path: "../../.."),
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    ],
    targets: [
        .executableTarget(
            name: "passkey-server",
            dependencies: [
                .product(name: "YKRelyingParty", package: "ykit"),
                .product(name: "YKHTTP", package: "ykit"),
                .product(name: "YKFIDO", package: "ykit"),
                .product(name: "YKTransport", package: "ykit"),
                .product(name: "YKWire", package: "ykit"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ], swiftSettings: [.swiftLanguageMode(.v6)])
    ])
