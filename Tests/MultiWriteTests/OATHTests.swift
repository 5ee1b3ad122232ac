// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKOATH
import YKTransport
import YKVirtualKey
import YKWire

struct OATHTests {
    @Test("accounts and the password are the old or the new ones", arguments: OATHOperations.all)
    func nothingIsLost(_ operation: Operation) async throws { try await operation.proveNothingIsLost() }
}

/// What OATH does in more than one exchange.
enum OATHOperations {
    static func open(_ link: sending any CardLink) async throws -> OATHService { try await .open(channel(link)) }

    static func id(_ name: String) -> OATHAccountID { OATHAccountID(issuer: nil, name: name) }

    static func account(_ name: String, _ byte: UInt8 = 1) -> NewOATHAccount {
        NewOATHAccount(id: id(name), secret: Secret([UInt8](repeating: byte, count: 20)))
    }

    static func names(_ key: VirtualKey) async throws -> Set<String> {
        Set(try await open(key.link()).accounts().map(\.id.name))
    }

    /// Which secrets the accounts have, by the codes that they make.
    static func secrets(_ key: VirtualKey) async throws -> Set<UInt8> {
        let service = try await open(key.link())
        var bytes: Set<UInt8> = []
        for account in try await service.accounts() {
            let response = try await service.response(for: account.id, challenge: [1, 2, 3, 4, 5, 6, 7, 8])
            for byte: UInt8 in [1, 2] {
                let expected = HashAlgorithm.sha1.hmac(
                    key: Secret([UInt8](repeating: byte, count: 20)), [1, 2, 3, 4, 5, 6, 7, 8])
                if expected.suffix(response.count) == response[...] { bytes.insert(byte) }
            }
        }
        return bytes
    }

    /// Unlocks with the first password that is right.
    static func unlock(_ service: OATHService, _ passwords: [String]) async throws {
        let info = await service.info
        guard info.isLocked else { return }
        for text in passwords {
            do {
                return try await service.unlock(with: AccessKey(password: Secret(utf8: text), salt: info.salt))
            } catch OATHError.wrongPassword {}
        }
        throw Lost("the password")
    }

    static func setPassword(_ link: sending any CardLink, _ text: String) async throws {
        let service = try await open(link)
        try await unlock(service, ["old", "new"])
        try await service.setAccessKey(AccessKey(password: Secret(utf8: text), salt: await service.info.salt))
    }

    static func rename(_ link: sending any CardLink) async throws {
        let service = try await open(link)
        if try await service.accounts().map(\.id.name) == ["two"] { return }
        try await service.rename(id("one"), to: id("two"))
    }

    /// Replaces the account, as `add --force` does on a key that refuses to overwrite: without one there is nothing to
    /// replace.
    static func replace(_ link: sending any CardLink) async throws {
        let service = try await open(link)
        if try await service.accounts().contains(where: { $0.id.name == "one" }) {
            try await service.replace(id("one"), with: account("one", 2))
        } else {
            try await service.put(account("one", 2))
        }
    }

    static func replacing(_ name: String, _ version: FirmwareVersion) -> Operation {
        Operation(
            name: name, version: version, prepare: { try await open($0.link()).put(account("one")) },
            run: { try await replace($0) },
            holds: { try require(try await !secrets($0).isEmpty, "both secrets") },
            isDone: { key in
                try require(try await names(key).contains("one"), "the name")
                try require(try await secrets(key).contains(2), "the new secret")
            })
    }

    static let all: [Operation] = [
        Operation(
            name: "import two accounts", isComposed: true, prepare: { try await open($0.link()).put(account("zero")) },
            run: { link in
                let service = try await open(link)
                for name in ["one", "two"] { try await service.put(account(name)) }
            }, holds: { try require(try await names($0).contains("zero"), "an account that was there") },
            isDone: { try require(try await names($0) == ["zero", "one", "two"], "an account") }),
        Operation(
            name: "rename", prepare: { try await open($0.link()).put(account("one")) }, run: { try await rename($0) },
            holds: { key in
                let names = try await names(key)
                try require(names == ["one"] || names == ["two"], "the account: \(names)")
            }, isDone: { try require(try await names($0) == ["two"], "the new name") }),
        replacing("replace", FirmwareVersion(5, 7, 1)),
        replacing("replace without RENAME", FirmwareVersion(5, 2, 4)),
        Operation(
            name: "change the password", prepare: { try await setPassword($0.link(), "old") },
            run: { try await setPassword($0, "new") },
            holds: { try await unlock(try await open($0.link()), ["old", "new"]) },
            isDone: { try await unlock(try await open($0.link()), ["new"]) }),
        Operation(
            name: "remove the password", prepare: { try await setPassword($0.link(), "old") },
            run: { link in
                let service = try await open(link)
                try await unlock(service, ["old"])
                try await service.removeAccessKey()
            }, holds: { try await unlock(try await open($0.link()), ["old"]) },
            isDone: { try require(try await !open($0.link()).info.isLocked, "access without a password") }),
        Operation(
            name: "reset", prepare: { try await setPassword($0.link(), "old") },
            run: { try await open($0).reset() },
            holds: { try await unlock(try await open($0.link()), ["old"]) },
            isDone: { try require(try await !open($0.link()).info.isLocked, "access without a password") }),
    ]
}
