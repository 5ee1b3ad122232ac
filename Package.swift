// swift-tools-version: 6.1
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let house: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("ExistentialAny"),
]

let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let asn1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

// tools/build.sh puts there what is to be part of the program; where the folder is missing nothing changes.
let inside = LinkerSetting.unsafeFlags(["-L\(Context.packageDirectory)/.build/static"], .when(configuration: .release))

func test(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, resources: resources, swiftSettings: house)
}

let package = Package(
    name: "ykit",
    products: [
        .executable(name: "ykit", targets: ["ykit"]),
        .library(name: "YKWire", targets: ["YKWire"]),
        .library(name: "YKNFC", targets: ["YKNFC"]),
        .library(name: "YKToken", targets: ["YKToken"]),
        .library(name: "YKSmartCard", targets: ["YKSmartCard"]),
        .library(name: "YKCrypto", targets: ["YKCrypto"]),
        .library(name: "YKTransport", targets: ["YKTransport"]),
        .library(name: "YKHardware", targets: ["YKHardware"]),
        .library(name: "YKOATH", targets: ["YKOATH"]),
        .library(name: "YKManagement", targets: ["YKManagement"]),
        .library(name: "YKFIDO", targets: ["YKFIDO"]),
        .library(name: "YKPIV", targets: ["YKPIV"]),
        .library(name: "YKOTP", targets: ["YKOTP"]),
        .library(name: "YKHTTP", targets: ["YKHTTP"]),
        .library(name: "YKArculus", targets: ["YKArculus"]),
        .library(name: "YKVirtualKey", targets: ["YKVirtualKey"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    ],
    targets: [
        .target(name: "CHidraw"),
        .target(name: "CPCSC"),
        .target(name: "CUDev"),
        .target(name: "CUSB"),
        .target(name: "CPublicSuffix", exclude: ["rules.inc"]),
        .target(name: "COpenSSL"),
        .target(name: "CCurl"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(name: "YKWire", swiftSettings: house),
        .target(name: "YKNFC", dependencies: ["YKTransport", "YKWire"], swiftSettings: house),
        .target(name: "YKToken", dependencies: ["YKTransport", "YKCrypto", "YKWire"], swiftSettings: house),
        .target(name: "YKSmartCard", dependencies: ["YKHardware", "YKTransport", "YKWire"], swiftSettings: house),
        .target(name: "YKCrypto", dependencies: [crypto, cryptoExtras, "COpenSSL"], swiftSettings: house),
        .target(name: "YKTransport", dependencies: ["YKWire"], swiftSettings: house),
        .target(
            name: "YKHardware", dependencies: ["YKTransport", "YKWire", "CHidraw", "CPCSC", "CUDev", "CUSB"],
            swiftSettings: house),
        .target(name: "YKOATH", dependencies: ["YKTransport", "YKCrypto", "YKWire"], swiftSettings: house),
        .target(name: "YKOTP", dependencies: ["YKTransport", "YKCrypto", "YKWire"], swiftSettings: house),
        .target(name: "YKManagement", dependencies: ["YKTransport", "YKCrypto", "YKWire"], swiftSettings: house),
        .target(
            name: "YKFIDO", dependencies: ["YKTransport", "YKCrypto", "YKWire", "CZlib", "CPublicSuffix", asn1],
            swiftSettings: house),
        .target(
            name: "YKPIV", dependencies: ["YKTransport", "YKCrypto", "YKWire", "CZlib"], swiftSettings: house),
        .target(name: "YKHTTP", dependencies: ["YKTransport", "YKWire", "CCurl"], swiftSettings: house),
        .target(
            name: "YKArculus", dependencies: ["YKFIDO", "YKHTTP", "YKTransport", "YKCrypto", "YKWire"],
            swiftSettings: house),
        .target(name: "YKVirtualKey", dependencies: ["YKTransport", "YKCrypto", "YKWire"], swiftSettings: house),
        .executableTarget(
            name: "ykit",
            dependencies: [
                "YKWire", "YKCrypto", "YKTransport", "YKHardware", "YKVirtualKey", arguments,
                "YKManagement", "YKOATH", "YKFIDO", "YKPIV", "YKOTP", "YKHTTP", "YKArculus", "YKNFC", "YKToken",
            ],
            swiftSettings: house, linkerSettings: [inside]),
        .target(name: "YKTestSupport", path: "Tests/Support", swiftSettings: house),
        test("YKNFCTests", ["YKNFC", "YKVirtualKey", "YKTransport", "YKCrypto", "YKWire"]),
        test("YKTokenTests", ["YKToken", "YKTransport", "YKCrypto", "YKWire"]),
        test("YKSmartCardTests", ["YKSmartCard", "YKHardware", "YKVirtualKey", "YKTransport", "YKWire"]),
        test("YKWireTests", ["YKWire"]),
        test(
            "YKHardwareTests",
            ["YKHardware", "YKSmartCard", "YKVirtualKey", "YKTestSupport", "YKTransport", "YKWire", "CPCSC"]),
        test("YKTransportTests", ["YKTransport", "YKWire"]),
        test("YKOATHTests", ["YKOATH", "YKVirtualKey", "YKTransport", "YKCrypto", "YKWire"]),
        test("YKFIDOTests", ["YKFIDO", "YKVirtualKey", "YKTransport", "YKCrypto", "YKWire"]),
        test("YKPIVTests", ["YKPIV", "YKVirtualKey", "YKTransport", "YKCrypto", "YKWire"]),
        test("YKOTPTests", ["YKOTP", "YKVirtualKey", "YKTransport", "YKCrypto", "YKWire"]),
        test("YKVirtualKeyTests", ["YKVirtualKey", "YKTransport", "YKCrypto", "YKWire"]),
        test(
            "CLITests",
            [
                "ykit", arguments, "YKHardware", "YKManagement", "YKOATH", "YKFIDO", "YKPIV", "YKTransport", "YKCrypto",
                "YKWire",
            ],
            resources: [.copy("scripts"), .copy("fixtures")]),
        test(
            "YKArculusTests",
            ["YKArculus", "YKFIDO", "YKHTTP", "YKVirtualKey", "YKTransport", "YKCrypto", "YKWire"]),
        test("YKHTTPTests", ["YKHTTP", "YKTestSupport", "YKTransport", "YKWire"]),
        .testTarget(
            name: "ExampleTests",
            dependencies: [
                "YKArculus", "YKCrypto", "YKFIDO", "YKHTTP", "YKHardware", "YKManagement", "YKNFC", "YKOATH", "YKOTP",
                "YKPIV", "YKToken", "YKTransport", "YKVirtualKey", "YKWire",
            ],
            packageAccess: false, swiftSettings: house),
        test("YKManagementTests", ["YKManagement", "YKFIDO", "YKVirtualKey", "YKTransport", "YKCrypto", "YKWire"]),
    ]
)
