// swift-tools-version: 6.1
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let house: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("ExistentialAny"),
]

/// A library in `Sources/STOREY/NAME`.
func library(_ place: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(
        name: String(place.split(separator: "/")[1]), dependencies: dependencies, path: "Sources/" + place,
        swiftSettings: house)
}

/// C headers, loaders and shims, in `Sources/System/NAME`.
func system(_ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: "Sources/System/" + name, exclude: exclude)
}

/// Unit tests in `Tests/NAME`, which share `Tests/Support`.
func test(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    .testTarget(
        name: name, dependencies: dependencies + ["YKTestSupport"], resources: resources, swiftSettings: house)
}

let targets: [Target] = [
    system("CHidraw"), system("CPCSC"), system("CUDev"), system("CUSB"), system("COpenSSL"),
    system("CCurl", ["COpenSSL"]),
    system("CArgon2"), system("CSodium"), system("CBcrypt"), system("CDBus"), system("CCoverage"), system("CThreads"),
    system("CPublicSuffix", exclude: ["rules.inc"]),
    .systemLibrary(
        name: "CZlib", path: "Sources/System/CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

    library("Base/YKWire", []),
    library("Base/YKProtocols", ["YKWire"]),
    library("Base/YKCompression", ["CZlib"]),
    library("Base/YKCrypto", ["COpenSSL", "CArgon2", "CSodium"]),
    library("Base/YKX509", ["YKCrypto", "YKWire"]),

    library("Transport/YKTransport", ["YKProtocols", "YKWire", "CThreads"]),
    library("Transport/YKSecureChannel", ["YKTransport", "YKProtocols", "YKX509", "YKCrypto", "YKWire"]),
    library("Transport/YKCapture", ["YKTransport", "YKProtocols", "YKWire"]),
    library("Transport/YKHardware", ["YKTransport", "YKWire", "CHidraw", "CPCSC", "CThreads", "CUDev", "CUSB"]),

    library("VirtualKey/YKVirtualKey", ["YKHardware", "YKTransport", "YKProtocols", "YKCrypto", "YKWire"]),
    library("VirtualKey/YKVirtualKeyHost", ["YKVirtualKey", "YKTransport", "YKWire", "CThreads"]),

    library("Services/YKOATH", ["YKTransport", "YKProtocols", "YKX509", "YKCrypto", "YKWire"]),
    library(
        "Services/YKFIDO",
        ["YKTransport", "YKProtocols", "YKCrypto", "YKX509", "YKCompression", "YKWire", "CPublicSuffix"]),
    library(
        "Services/YKPIV",
        ["YKTransport", "YKProtocols", "YKX509", "YKCrypto", "YKCompression", "YKWire"]),
    library("Services/YKOTP", ["YKTransport", "YKProtocols", "YKCrypto", "YKWire"]),
    library("Services/YKOpenPGP", ["YKTransport", "YKProtocols", "YKCrypto", "YKWire"]),
    library("Services/YKHSMAuth", ["YKTransport", "YKProtocols", "YKCrypto", "YKWire"]),
    library("Services/YKSecrets", ["YKTransport", "YKProtocols", "YKCrypto", "YKWire"]),
    library(
        "Services/YKSecurityDomain",
        ["YKSecureChannel", "YKTransport", "YKProtocols", "YKX509", "YKCrypto", "YKWire"]),
    library("Services/YKManagement", ["YKTransport", "YKProtocols", "YKCrypto", "YKWire"]),
    library("Services/YKNFC", ["YKTransport", "YKProtocols", "YKWire"]),
    library("Services/YKToken", ["YKTransport", "YKCrypto", "YKWire"]),
    library("Services/YKSSH", ["YKCrypto", "YKWire", "CBcrypt"]),
    library("Services/YKAge", ["YKCrypto", "YKWire"]),
    library("Services/YKSecurID", ["YKTransport", "YKCrypto", "YKWire"]),
    library("Services/YKSmartCard", ["YKHardware", "YKTransport", "YKWire"]),

    library("Keys/YKInteraction", ["YKTransport", "YKProtocols", "YKCrypto", "YKWire"]),
    library("Keys/YKDesktop", ["YKHardware", "YKTransport", "YKCrypto", "YKWire", "CDBus"]),
    library(
        "Keys/YKUse",
        [
            "YKInteraction", "YKPIV", "YKFIDO", "YKSSH", "YKSecureChannel", "YKTransport", "YKProtocols", "YKX509",
            "YKCrypto", "YKWire",
        ]),
    library(
        "Keys/YKBridge",
        [
            "YKDesktop", "YKUse", "YKInteraction", "YKFIDO", "YKOpenPGP", "YKVirtualKeyHost", "YKVirtualKey",
            "YKHardware",
            "YKTransport", "YKProtocols", "YKCrypto", "YKWire",
        ]),
    library("Keys/YKStore", ["YKFIDO", "YKPIV", "YKTransport", "YKCrypto", "YKWire"]),
    library("Keys/YKTokenStore", ["YKStore", "YKSecurID", "YKTransport", "YKCrypto", "YKWire"]),
    library(
        "Keys/YKKeys",
        [
            "YKStore", "YKSecureChannel", "YKOATH", "YKSecrets", "YKFIDO", "YKManagement", "YKOTP", "YKVirtualKey",
            "YKCapture", "YKHardware", "YKTransport", "YKProtocols", "YKCrypto", "YKCompression", "YKWire",
        ]),
    library("Keys/YKImport", ["YKKeys", "YKOATH", "YKTransport", "YKCrypto", "YKCompression", "YKWire"]),
    library(
        "Keys/YKKeyAgent",
        [
            "YKInteraction", "YKKeys", "YKSSH", "YKFIDO", "YKPIV", "YKHardware", "YKTransport", "YKCrypto", "YKWire",
        ]),
    library(
        "Keys/YKLUKS",
        ["YKKeys", "YKFIDO", "YKPIV", "YKTransport", "YKHardware", "YKCrypto", "YKWire"]),
    library(
        "Keys/YKInventory",
        [
            "YKLUKS", "YKKeys", "YKOATH", "YKOTP", "YKHSMAuth", "YKSecrets", "YKFIDO", "YKPIV", "YKOpenPGP", "YKSSH",
            "YKAge", "YKTransport", "YKX509", "YKCrypto", "YKWire",
        ]),
    library("Online/YKHTTP", ["YKCapture", "YKTransport", "YKX509", "YKCrypto", "YKWire", "CCurl"]),
    library("Online/YKArculus", ["YKFIDO", "YKHTTP", "YKTransport", "YKCrypto", "YKWire"]),
    library("Online/YKCTKIP", ["YKSecurID", "YKHTTP", "YKTransport", "YKCrypto", "YKWire"]),
    library("Online/YKPrivacyIDEA", ["YKHTTP", "YKTransport", "YKCrypto", "YKWire"]),
    library(
        "Online/YKApproval",
        [
            "YKPrivacyIDEA", "YKHTTP", "YKStore", "YKPIV", "YKOATH", "YKFIDO", "YKTransport", "YKProtocols", "YKX509",
            "YKCrypto", "YKWire",
        ]),
    library(
        "Online/YKSecondFactor",
        ["YKPrivacyIDEA", "YKHTTP", "YKStore", "YKFIDO", "YKTransport", "YKCrypto", "YKWire"]),
    library("Online/YKRelyingParty", ["YKHTTP", "YKFIDO", "YKTransport", "YKX509", "YKCrypto", "YKWire"]),
    library(
        "Online/YKAttestation",
        [
            "YKRelyingParty", "YKFIDO", "YKPIV", "YKOpenPGP", "YKManagement", "YKSSH", "YKCapture", "YKTransport",
            "YKX509", "YKCrypto", "YKWire",
        ]),

    library(
        "Keys/YKit",
        [
            "YKKeys", "YKImport", "YKOATH", "YKFIDO", "YKPIV", "YKOTP", "YKManagement", "YKOpenPGP", "YKHSMAuth",
            "YKNFC", "YKSecrets", "YKSecurityDomain", "YKSecureChannel", "YKStore", "YKToken", "YKCapture",
            "YKVirtualKey", "YKHardware", "YKTransport", "YKProtocols", "YKX509", "YKCrypto", "YKWire",
        ]),

    library("CommandLine/Arguments", []),
    library(
        "CommandLine/TerminalIO",
        [
            "Arguments", "YKInteraction", "YKDesktop", "YKTransport", "YKHardware", "YKWire", "YKProtocols",
            "YKCrypto", "CCoverage", "CThreads",
        ]),
    library(
        "CommandLine/Words",
        [
            "TerminalIO", "YKHTTP", "YKArculus", "YKCTKIP", "YKApproval", "YKSecondFactor", "YKRelyingParty",
            "YKAttestation", "YKInteraction", "YKDesktop", "YKUse", "YKInventory", "YKLUKS", "YKStore", "YKTokenStore",
            "YKKeys", "YKImport", "YKKeyAgent", "YKOATH", "YKSecrets", "YKFIDO", "YKPIV", "YKOTP", "YKOpenPGP",
            "YKHSMAuth",
            "YKSecurityDomain", "YKManagement", "YKNFC", "YKToken", "YKSSH", "YKBridge", "YKAge", "YKSecurID",
            "YKVirtualKey", "YKVirtualKeyHost", "YKTransport", "YKCapture", "YKHardware", "YKWire", "YKProtocols",
            "YKCrypto", "YKX509",
        ]),
    library(
        "CommandLine/Verbs",
        [
            "TerminalIO", "Arguments", "YKInteraction", "YKUse", "YKKeys", "YKPIV", "YKTransport", "YKCapture",
            "YKHardware", "YKWire", "YKProtocols", "YKCrypto",
        ]),
    library(
        "CommandLine/Applications",
        [
            "Verbs", "TerminalIO", "Arguments", "YKHTTP", "YKPrivacyIDEA", "YKRelyingParty", "YKInteraction", "YKUse",
            "YKStore", "YKToken", "YKKeys", "YKManagement", "YKOATH", "YKFIDO", "YKPIV", "YKTransport", "YKCapture",
            "YKHardware", "YKWire", "YKProtocols", "YKCrypto", "YKX509",
        ]),
    library(
        "CommandLine/AccountVerbs",
        [
            "Applications", "Verbs", "TerminalIO", "Arguments", "YKHTTP", "YKCTKIP", "YKInteraction", "YKDesktop",
            "YKUse", "YKStore", "YKTokenStore", "YKKeys", "YKImport", "YKKeyAgent", "YKOATH", "YKSecrets", "YKFIDO",
            "YKPIV", "YKOTP", "YKToken", "YKAge", "YKSecurID", "YKTransport", "YKHardware", "YKWire", "YKProtocols",
            "YKCrypto", "YKX509",
        ]),
    library(
        "CommandLine/ApprovalVerbs",
        [
            "Applications", "Verbs", "TerminalIO", "Arguments", "YKHTTP", "YKPrivacyIDEA", "YKApproval",
            "YKSecondFactor",
            "YKDesktop", "YKUse", "YKStore", "YKKeys", "YKOATH", "YKFIDO", "YKPIV", "YKTransport", "YKHardware",
            "YKWire", "YKProtocols", "YKCrypto",
        ]),
    library(
        "CommandLine/CardVerbs",
        [
            "Applications", "Verbs", "TerminalIO", "Arguments", "YKRelyingParty", "YKAttestation", "YKInteraction",
            "YKUse",
            "YKKeys", "YKPIV", "YKOpenPGP",
            "YKHSMAuth", "YKSecurityDomain", "YKManagement", "YKNFC", "YKToken", "YKSSH", "YKAge", "YKVirtualKey",
            "YKTransport",
            "YKSecureChannel", "YKHardware", "YKWire", "YKProtocols", "YKCrypto", "YKX509",
        ]),
    library(
        "CommandLine/FIDOVerbs",
        [
            "Applications", "Verbs", "TerminalIO", "Arguments", "YKHTTP", "YKArculus", "YKRelyingParty",
            "YKAttestation",
            "YKUse", "YKKeys", "YKFIDO", "YKPIV", "YKTransport", "YKHardware", "YKWire", "YKProtocols", "YKCrypto",
        ]),
    library(
        "CommandLine/HostVerbs",
        [
            "Applications", "Verbs", "TerminalIO", "Arguments", "YKAttestation", "YKInteraction", "YKDesktop", "YKUse",
            "YKLUKS",
            "YKKeys", "YKKeyAgent", "YKFIDO", "YKPIV", "YKSSH", "YKAge", "YKTransport", "YKHardware", "YKWire",
            "YKProtocols",
            "YKCrypto",
        ]),
    library(
        "CommandLine/DeviceVerbs",
        [
            "Applications", "Verbs", "TerminalIO", "Arguments", "YKHTTP", "YKRelyingParty", "YKInteraction",
            "YKDesktop",
            "YKUse", "YKInventory", "YKKeys", "YKOATH", "YKFIDO", "YKPIV", "YKOpenPGP", "YKOTP", "YKHSMAuth",
            "YKSecrets",
            "YKManagement", "YKBridge", "YKVirtualKey",
            "YKVirtualKeyHost", "YKTransport", "YKSecureChannel", "YKCapture", "YKHardware", "YKWire", "YKProtocols",
            "YKCrypto",
        ]),
    .executableTarget(
        name: "ykit",
        dependencies: [
            "AccountVerbs", "ApprovalVerbs", "CardVerbs", "DeviceVerbs", "FIDOVerbs", "HostVerbs", "Verbs",
            "Words",
            "TerminalIO",
            "Arguments",
            "YKHardware", "YKCrypto",
        ],
        path: "Sources/ykit", swiftSettings: house),

    .target(
        name: "YKTestSupport",
        dependencies: ["YKInteraction", "YKVirtualKey", "YKCapture", "YKTransport", "YKCrypto", "YKWire"],
        path: "Tests/Support", swiftSettings: house),
    .target(
        name: "FuzzTargets",
        dependencies: [
            "YKWire", "YKTransport", "YKCapture", "YKNFC", "YKToken", "YKOATH", "YKFIDO", "YKManagement",
            "YKPIV", "YKHSMAuth", "YKSecrets", "YKOpenPGP", "YKSecureChannel", "YKSecurityDomain", "YKSSH", "YKAge",
            "YKHTTP", "YKRelyingParty", "YKArculus", "YKPrivacyIDEA", "YKCrypto", "YKSecurID", "YKCTKIP", "YKX509",
            "YKApproval", "YKAttestation",
            "YKStore", "YKLUKS", "YKBridge", "YKInteraction", "YKImport",
        ],
        path: "tools/fuzz/Sources/ykfuzz", exclude: ["Driver.swift"],
        swiftSettings: [.swiftLanguageMode(.v6)]),
    test("FuzzTests", ["FuzzTargets"]),
    test("YKNFCTests", ["YKNFC", "YKCapture", "YKVirtualKey", "YKTransport", "YKProtocols", "YKCrypto", "YKWire"]),
    test("YKTokenTests", ["YKToken", "YKTransport", "YKCrypto", "YKWire"]),
    test("YKSmartCardTests", ["YKSmartCard", "YKCapture", "YKHardware", "YKVirtualKey", "YKTransport", "YKWire"]),
    test("YKWireTests", ["YKWire"]),
    test("YKX509Tests", ["YKX509", "YKCrypto", "YKWire"]),
    test(
        "ServiceTests",
        [
            "YKOATH", "YKFIDO", "YKPIV", "YKOTP", "YKManagement", "YKNFC", "YKHSMAuth", "YKOpenPGP", "YKSecrets",
            "YKSecurityDomain", "YKVirtualKey", "YKTransport", "YKProtocols", "YKCrypto", "YKWire",
        ]),
    test(
        "YKHardwareTests",
        [
            "YKHardware", "YKSmartCard", "YKVirtualKey", "YKTransport", "YKVirtualKeyHost", "YKProtocols", "YKWire",
            "CPCSC", "CUSB",
        ]),
    test("YKTransportTests", ["YKCapture", "YKHTTP", "YKTransport", "YKProtocols", "YKWire"]),
    test(
        "YKSecureChannelTests",
        [
            "YKSecureChannel", "YKOATH", "YKPIV", "YKVirtualKey", "YKTransport", "YKProtocols", "YKX509", "YKCrypto",
            "YKWire",
        ],
        resources: [.copy("vectors")]),
    test(
        "YKOATHTests", ["YKOATH", "YKCapture", "YKVirtualKey", "YKTransport", "YKProtocols", "YKCrypto", "YKWire"]),
    test("YKFIDOTests", ["YKFIDO", "YKCapture", "YKVirtualKey", "YKTransport", "YKX509", "YKCrypto", "YKWire"]),
    test(
        "YKPIVTests",
        ["YKPIV", "YKCapture", "YKVirtualKey", "YKTransport", "YKProtocols", "YKX509", "YKCrypto", "YKWire"]),
    test(
        "YKOpenPGPTests",
        ["YKOpenPGP", "YKPIV", "YKVirtualKey", "YKTransport", "YKProtocols", "YKX509", "YKCrypto", "YKWire"],
        resources: [.copy("vectors")]),
    test(
        "YKHSMAuthTests", ["YKHSMAuth", "YKVirtualKey", "YKTransport", "YKProtocols", "YKCrypto", "YKWire"],
        resources: [.copy("vectors")]),
    test(
        "YKSecretsTests",
        ["YKSecrets", "YKFIDO", "YKCapture", "YKVirtualKey", "YKTransport", "YKProtocols", "YKCrypto", "YKWire"]),
    test(
        "YKSecurityDomainTests",
        [
            "YKSecurityDomain", "YKSecureChannel", "YKVirtualKey", "YKTransport", "YKProtocols", "YKCrypto", "YKWire",
        ],
        resources: [.copy("vectors")]),
    test("YKOTPTests", ["YKOTP", "YKCapture", "YKVirtualKey", "YKTransport", "YKCrypto", "YKWire"]),
    test(
        "YKVirtualKeyTests",
        ["YKVirtualKey", "YKVirtualKeyHost", "YKTransport", "YKProtocols", "YKCrypto", "YKWire"]),
    test(
        "MultiWriteTests",
        [
            "Words", "TerminalIO", "YKFIDO", "YKHSMAuth", "YKManagement", "YKOATH", "YKOTP", "YKOpenPGP", "YKPIV",
            "YKProtocols", "YKSecurityDomain", "YKSecureChannel", "YKVirtualKey", "YKTransport", "YKX509", "YKCrypto",
            "YKWire",
        ]),
    test(
        "CLITests",
        [
            "ykit", "AccountVerbs", "ApprovalVerbs", "CardVerbs", "DeviceVerbs", "FIDOVerbs", "HostVerbs",
            "Applications", "Verbs",
            "Words", "TerminalIO", "Arguments", "YKKeys", "YKVirtualKey", "YKVirtualKeyHost", "YKHardware",
            "YKManagement", "YKApproval", "YKBridge", "YKInteraction", "YKOATH", "YKFIDO", "YKPIV", "YKSSH", "YKAge",
            "YKCapture", "YKTransport", "YKProtocols", "YKUse", "YKX509", "YKCrypto", "YKWire", "CThreads",
        ],
        resources: [.copy("scripts"), .copy("fixtures")]),
    test(
        "WordsTests",
        [
            "Words", "TerminalIO", "YKApproval", "YKArculus", "YKCTKIP", "YKFIDO", "YKHTTP", "YKHardware",
            "YKInteraction", "YKKeys", "YKManagement", "YKOATH", "YKOTP", "YKOpenPGP", "YKPIV", "YKProtocols",
            "YKRelyingParty", "YKSecondFactor", "YKSecrets", "YKSecurID", "YKSecurityDomain", "YKToken",
            "YKTransport", "YKVirtualKey", "YKVirtualKeyHost", "YKWire",
        ]),
    test(
        "YKKeysTests",
        [
            "YKKeys", "YKStore", "YKSecurityDomain", "YKOATH", "YKFIDO", "YKPIV", "YKOTP", "YKManagement",
            "YKCapture", "YKHardware", "YKVirtualKey", "YKTransport", "YKSecureChannel", "YKProtocols", "YKCrypto",
            "YKWire",
        ]),
    test(
        "YKImportTests", ["YKImport", "YKKeys", "YKOATH", "YKHardware", "YKTransport", "YKCrypto", "YKWire"]),
    test(
        "YKLUKSTests",
        [
            "YKLUKS", "YKKeys", "YKFIDO", "YKPIV", "YKHardware", "YKVirtualKey", "YKTransport", "YKCrypto", "YKWire",
        ],
        resources: [.copy("headers")]),
    test(
        "YKInventoryTests",
        [
            "YKInventory", "YKLUKS", "YKKeys", "YKOATH", "YKOTP", "YKFIDO", "YKPIV", "YKOpenPGP", "YKSSH", "YKAge",
            "YKVirtualKey", "YKTransport", "YKX509", "YKCrypto", "YKWire",
        ]),
    test(
        "YKArculusTests",
        [
            "YKArculus", "YKFIDO", "YKHTTP", "YKVirtualKey", "YKCapture", "YKTransport", "YKCrypto", "YKWire",
        ]),
    test(
        "YKSecurIDTests", ["YKSecurID", "YKTransport", "YKCrypto", "YKWire"], resources: [.copy("vectors")]),
    test(
        "YKCTKIPTests", ["YKCTKIP", "YKSecurID", "YKHTTP", "YKTransport", "YKCrypto", "YKWire"],
        resources: [.copy("exchange")]),
    test(
        "YKTokenStoreTests", ["YKTokenStore", "YKStore", "YKSecurID", "YKTransport", "YKCrypto", "YKWire"]),
    test("YKSSHTests", ["YKSSH", "YKCrypto", "YKWire"], resources: [.copy("vectors")]),
    test("YKAgeTests", ["YKAge", "YKCrypto", "YKWire"]),
    test("YKStoreTests", ["YKStore", "YKFIDO", "YKPIV", "YKVirtualKey", "YKTransport", "YKCrypto", "YKWire"]),
    test(
        "YKPrivacyIDEATests", ["YKPrivacyIDEA", "YKHTTP", "YKTransport", "YKCrypto", "YKWire"],
        resources: [.copy("exchanges"), .copy("signed.json")]),
    test(
        "YKApprovalTests",
        [
            "YKApproval", "YKPrivacyIDEA", "YKHTTP", "YKStore", "YKPIV", "YKOATH", "YKFIDO", "YKVirtualKey",
            "YKCapture", "YKTransport", "YKProtocols", "YKX509", "YKCrypto", "YKWire",
        ],
        resources: [.copy("vectors")]),
    test(
        "YKSecondFactorTests",
        [
            "YKSecondFactor", "YKPrivacyIDEA", "YKHTTP", "YKStore", "YKFIDO", "YKToken", "YKVirtualKey", "YKCapture",
            "YKTransport", "YKCrypto", "YKWire",
        ]),
    test(
        "YKRelyingPartyTests",
        ["YKRelyingParty", "YKHTTP", "YKFIDO", "YKVirtualKey", "YKTransport", "YKX509", "YKCrypto", "YKWire"]),
    test(
        "YKAttestationTests",
        [
            "YKAttestation", "YKRelyingParty", "YKFIDO", "YKPIV", "YKOpenPGP", "YKSSH", "YKManagement", "YKCapture",
            "YKVirtualKey", "YKTransport", "YKX509", "YKCrypto", "YKWire",
        ]),
    test("YKInteractionTests", ["YKInteraction", "YKProtocols", "YKCrypto"]),
    test(
        "YKKeyAgentTests",
        [
            "YKKeyAgent", "YKInteraction", "YKSSH", "YKFIDO", "YKPIV", "YKVirtualKey", "YKHardware", "YKTransport",
            "YKProtocols", "YKCrypto", "YKWire",
        ]),
    test(
        "YKBridgeTests",
        [
            "YKBridge", "YKInteraction", "YKFIDO", "YKPIV", "YKOpenPGP", "YKOATH", "YKVirtualKeyHost", "YKVirtualKey",
            "YKHardware", "YKTransport", "YKProtocols", "YKCrypto", "YKWire",
        ]),
    test("YKDesktopTests", ["YKDesktop", "YKHardware", "YKTransport", "YKCrypto", "YKWire"]),
    test(
        "YKUseTests",
        [
            "YKUse", "YKInteraction", "YKPIV", "YKFIDO", "YKVirtualKey", "YKTransport", "YKProtocols", "YKCrypto",
            "YKWire",
        ]),
    test("YKHTTPTests", ["YKHTTP", "YKTransport", "YKWire"]),
    .testTarget(
        name: "ExampleTests",
        dependencies: [
            "YKit",
            "YKApproval", "YKArculus", "YKCrypto", "YKFIDO", "YKHTTP", "YKHardware", "YKManagement", "YKNFC",
            "YKOATH",
            "YKOTP", "YKPIV", "YKRelyingParty", "YKToken", "YKCapture", "YKTransport", "YKVirtualKey",
            "YKVirtualKeyHost", "YKWire", "YKX509", "YKSecurID", "YKSecondFactor", "YKPrivacyIDEA", "YKSSH",
            "YKAge",
        ],
        packageAccess: false, swiftSettings: house),
    test(
        "YKManagementTests",
        [
            "YKManagement", "YKFIDO", "YKVirtualKey", "YKTransport", "YKProtocols", "YKCrypto", "YKWire",
        ]),
]

/// What programs may depend on: the libraries, but for those that only other libraries use.
let libraries = targets.map(\.name).filter { $0.hasPrefix("YK") && !$0.hasSuffix("Tests") }
let inner = ["YKProtocols", "YKCompression", "YKTestSupport"]

let package = Package(
    name: "ykit",
    products: [.executable(name: "ykit", targets: ["ykit"])]
        + libraries.filter { !inner.contains($0) }.map { .library(name: $0, targets: [$0]) },
    targets: targets
)

// `tools/samples` is a package of its own. To build it beside the tests without compiling the libraries twice,
// `tools/samples/check` has its programs built as targets of this package.
if Context.environment["YKIT_SAMPLES"] == "1" {
    let samples: [(String, [Target.Dependency])] = [
        ("watch", []), ("codes", []), ("pin-dialog", []), ("certificate", []), ("password", []),
        ("sign-in", ["YKRelyingParty"]), ("securid", ["YKSecurID"]), ("ssh-sign", ["YKSSH"]), ("age-key", ["YKAge"]),
        ("approve", ["YKApproval", "YKHTTP"]), ("second-factor", ["YKSecondFactor", "YKPrivacyIDEA", "YKHTTP"]),
    ]
    for (name, libraries) in samples {
        package.targets.append(
            .executableTarget(
                name: name, dependencies: ["YKit"] + libraries, path: "tools/samples/Sources/" + name,
                packageAccess: false, swiftSettings: [.swiftLanguageMode(.v6)]))
    }
}
