// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKHSMAuth
import YKTransport
import YKVirtualKey
import YKWire

struct HSMAuthTests {
    @Test("credentials and passwords are the old or the new ones", arguments: HSMAuthOperations.all)
    func nothingIsLost(_ operation: Operation) async throws { try await operation.proveNothingIsLost() }
}

/// What YubiHSM Auth does in more than one exchange.
enum HSMAuthOperations {
    static func open(_ link: sending any CardLink) async throws -> HSMAuthService { try await .open(channel(link)) }

    static func password(_ text: String) throws -> HSMAuthPassword { try HSMAuthPassword(Secret(utf8: text)) }

    static func labels(_ key: VirtualKey) async throws -> [String] {
        try await open(key.link()).credentials().map(\.label.text)
    }

    /// Stores a credential under the default or the new management password.
    static func add(_ link: sending any CardLink, _ label: String) async throws {
        let service = try await open(link)
        if try await service.credentials().contains(where: { $0.label.text == label }) { return }
        let half = SharedSecret(Secret([UInt8](repeating: 1, count: 16)))
        for text in ["", "new"] {
            do {
                return try await service.add(
                    HSMAuthLabel(label), .symmetric(encryption: half, mac: half), password: password("pw"),
                    managementKey: password(text))
            } catch HSMAuthError.wrongManagementKey {}
        }
        throw Lost("the management password")
    }

    /// The credential answers to its password.
    static func works(_ key: VirtualKey, _ label: String) async throws {
        _ = try await open(key.link()).sessionKeys(
            HSMAuthLabel(label), hostChallenge: [UInt8](repeating: 1, count: 8),
            hsmChallenge: [UInt8](repeating: 2, count: 8), password: password("pw"))
    }

    static let all: [Operation] = [
        Operation(
            name: "store a credential", prepare: { try await add($0.link(), "one") },
            run: { try await add($0, "two") }, holds: { try await works($0, "one") },
            isDone: { key in for label in ["one", "two"] { try await works(key, label) } }),
        Operation(
            name: "delete a credential",
            prepare: { key in for label in ["one", "two"] { try await add(key.link(), label) } },
            run: { link in
                let service = try await open(link)
                guard try await service.credentials().contains(where: { $0.label.text == "two" }) else { return }
                try await service.delete(HSMAuthLabel("two"), managementKey: password(""))
            }, holds: { try await works($0, "one") },
            isDone: { try require(try await labels($0) == ["one"], "the other credential") }),
        Operation(
            name: "change the management password", prepare: { try await add($0.link(), "one") },
            run: { try await open($0).changeManagementKey(from: password(""), to: password("new")) },
            holds: { key in
                try await works(key, "one")
                try await add(key.link(), "two")
            },
            again: { key in
                do {
                    try await open(key.link()).changeManagementKey(from: password("new"), to: password("new"))
                } catch HSMAuthError.wrongManagementKey {
                    try await open(key.link()).changeManagementKey(from: password(""), to: password("new"))
                }
            },
            isDone: { key in
                try await open(key.link()).changeManagementKey(from: password("new"), to: password("new"))
            }),
        Operation(
            name: "store a generated key", prepare: { try await add($0.link(), "one") },
            run: { link in
                let service = try await open(link)
                if try await service.credentials().contains(where: { $0.label.text == "two" }) { return }
                try await service.add(
                    HSMAuthLabel("two"), .generatedP256, password: password("pw"), managementKey: password(""))
            }, holds: { try await works($0, "one") },
            isDone: { _ = try await open($0.link()).publicKey(of: HSMAuthLabel("two")) }),
        Operation(
            name: "change a credential's password", version: FirmwareVersion(5, 8, 0),
            prepare: { try await add($0.link(), "one") },
            run: {
                try await open($0).changePassword(of: HSMAuthLabel("one"), from: password("pw"), to: password("new"))
            },
            holds: { try await answers($0, "one", ["pw", "new"]) },
            again: { key in
                do { try await answers(key, "one", ["new"]) } catch HSMAuthError.wrongPassword {
                    try await open(key.link())
                        .changePassword(of: HSMAuthLabel("one"), from: password("pw"), to: password("new"))
                }
            }, isDone: { try await answers($0, "one", ["new"]) }),
        Operation(
            name: "set a credential's password", version: FirmwareVersion(5, 8, 0),
            prepare: { try await add($0.link(), "one") },
            run: { link in
                try await open(link)
                    .setPassword(of: HSMAuthLabel("one"), to: password("new"), managementKey: password(""))
            }, holds: { try await answers($0, "one", ["pw", "new"]) },
            isDone: { try await answers($0, "one", ["new"]) }),
        Operation(
            name: "reset", prepare: { try await add($0.link(), "one") }, run: { try await open($0).reset() },
            holds: { _ = try await open($0.link()).credentials() },
            isDone: { try require(try await labels($0).isEmpty, "nothing") }),
    ]

    /// The credential answers to one of the passwords.
    static func answers(_ key: VirtualKey, _ label: String, _ passwords: [String]) async throws {
        for (index, text) in passwords.enumerated() {
            do {
                _ = try await open(key.link()).sessionKeys(
                    HSMAuthLabel(label), hostChallenge: [UInt8](repeating: 1, count: 8),
                    hsmChallenge: [UInt8](repeating: 2, count: 8), password: password(text))
                return
            } catch HSMAuthError.wrongPassword where index < passwords.count - 1 {}
        }
    }
}
