// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKPIV
import YKTransport
import YKVirtualKey
import YKWire

struct PIVTests {
    @Test("a management key is never unknown", arguments: PIVOperations.managementKeys)
    func managementKey(_ operation: Operation) async throws { try await operation.proveNothingIsLost() }

    @Test("PIN and PUK are the old or the new ones", arguments: PIVOperations.codes)
    func codes(_ operation: Operation) async throws { try await operation.proveNothingIsLost() }

    @Test("keys, certificates and objects are the old or the new ones", arguments: PIVOperations.contents)
    func contents(_ operation: Operation) async throws { try await operation.proveNothingIsLost() }
}

/// What PIV does in more than one exchange.
enum PIVOperations {
    static func open(_ link: sending any CardLink) async throws -> PIVService { try await .open(channel(link)) }
    static func pin(_ text: String) throws -> PIVPIN { try PIVPIN(Secret(utf8: text)) }
    static let given = [UInt8](repeating: 0x5A, count: 24)

    /// Gives the management key as the command line does: the default one, else the one behind the PIN, else others.
    static func manage(_ service: PIVService, pins: [String] = ["123456"], others: [[UInt8]] = []) async throws {
        do { return try await service.authenticate(with: .defaultKey()) } catch PIVError.wrongManagementKey {
        } catch PIVError.managementKeyLength {}
        for key in others {
            do { return try await service.authenticate(with: ManagementKey(Secret(key))) } catch PIVError
                .wrongManagementKey
            {} catch PIVError.managementKeyLength {}
        }
        for (index, text) in pins.enumerated() {
            do { return try await service.authenticate(withProtectedKeyOf: pin(text)) } catch PIVError.wrong {
                guard index < pins.count - 1 else { throw Lost("the PIN") }
            } catch PIVError.notProtected {
                throw Lost("the management key, which is not behind the PIN")
            } catch PIVError.wrongManagementKey { throw Lost("the management key: the PIN leads to another one") }
        }
    }

    /// The management key is known, and notes on the card can be changed with it.
    static func isManaged(_ key: VirtualKey, pins: [String] = ["123456"], others: [[UInt8]] = []) async throws {
        let service = try await open(key.link())
        try await manage(service, pins: pins, others: others)
        try await service.makeCapability()
    }

    /// Makes the management key a random one behind the PIN.
    static func protect(_ link: sending any CardLink, others: [[UInt8]] = []) async throws {
        let service = try await open(link)
        try await manage(service, others: others)
        try await service.verify(pin("123456"))
        let new = try await service.randomManagementKey(.aes192)
        try await service.setManagementKey(ManagementKey(new.value.copy()), type: .aes192, protected: true)
    }

    static func isProtected(_ key: VirtualKey, _ expected: Bool) async throws {
        let service = try await open(key.link())
        try require(try await service.administration().flags.contains(.keyStored) == expected, "the notes")
        if expected { try await service.authenticate(withProtectedKeyOf: pin("123456")) }
        try await service.verify(pin("123456"))
        do {
            let printed = try await service.object(.printed)
            try require(expected && printed.count == 28, "one key in the printed object, not \(printed.count) bytes")
        } catch PIVError.noSuchObject { try require(!expected, "the printed object") }
    }

    /// Sets a key that somebody has.
    static func give(_ link: sending any CardLink) async throws {
        let service = try await open(link)
        try await manage(service, others: [given])
        try await service.setManagementKey(ManagementKey(Secret(given)), type: .aes192)
    }

    /// Leaves a management key that is derived from the PIN, as old programs did.
    static func derive(_ key: VirtualKey) async throws {
        let service = try await open(key.link())
        try await service.authenticate(with: .defaultKey())
        var notes = PIVAdministration()
        notes.salt = Array(0..<16)
        let derived = try ManagementKey(pin: pin("123456"), salt: Array(0..<16))
        try await service.setManagementKey(derived.copy(), type: .tripleDES)
        try await service.putObject(.administration, notes.encoded)
    }

    static let managementKeys: [Operation] = [
        Operation(
            name: "default to protected", run: { try await protect($0) }, holds: { try await isManaged($0) },
            isDone: { try await isProtected($0, true) }),
        Operation(
            name: "protected to protected", prepare: { try await protect($0.link()) }, run: { try await protect($0) },
            holds: { try await isManaged($0) }, isDone: { try await isProtected($0, true) }),
        Operation(
            name: "given to protected", prepare: { try await give($0.link()) },
            run: { try await protect($0, others: [given]) }, holds: { try await isManaged($0, others: [given]) },
            isDone: { try await isProtected($0, true) }),
        Operation(
            name: "protected to given", prepare: { try await protect($0.link()) }, run: { try await give($0) },
            holds: { try await isManaged($0, others: [given]) }, isDone: { try await isProtected($0, false) }),
        Operation(
            name: "default to given", run: { try await give($0) }, holds: { try await isManaged($0, others: [given]) },
            isDone: { try await isProtected($0, false) }),
        Operation(
            name: "derived to protected", version: FirmwareVersion(5, 4, 3), prepare: { try await derive($0) },
            run: { try await protect($0) }, holds: { try await isManaged($0) },
            isDone: { try await isProtected($0, true) }),
    ]

    /// Changes the PIN and a management key that is derived from it, unless the PIN is the new one already.
    static func changePIN(_ link: sending any CardLink) async throws {
        try await open(link).changePIN(from: pin("123456"), to: pin("654321"))
    }

    static func changePINAgain(_ key: VirtualKey) async throws {
        do { try await open(key.link()).verify(pin("654321")) } catch PIVError.wrong { try await changePIN(key.link()) }
    }

    static func takes(_ key: VirtualKey, pins: [String], puks: [String] = ["12345678"]) async throws {
        var isKnown = false
        for text in pins where !isKnown {
            do {
                try await open(key.link()).verify(pin(text))
                isKnown = true
            } catch PIVError.wrong {}
        }
        try require(isKnown, "the PIN")
        for text in puks {
            do { return try await open(key.link()).changePUK(from: pin(text), to: pin(text)) } catch PIVError.wrong {}
        }
        throw Lost("the PUK")
    }

    static func setRetries(_ link: sending any CardLink) async throws {
        let service = try await open(link)
        try await manage(service)
        try await service.verify(pin("123456"))
        try await service.setRetries(pin: 5, puk: 6)
    }

    static let codes: [Operation] = [
        Operation(
            name: "change the PIN", run: { try await changePIN($0) },
            holds: { try await takes($0, pins: ["654321", "123456"]) }, again: { try await changePINAgain($0) },
            isDone: { try await takes($0, pins: ["654321"]) }),
        Operation(
            name: "change the PIN that the management key is derived from", version: FirmwareVersion(5, 4, 3),
            prepare: { try await derive($0) }, run: { try await changePIN($0) },
            holds: { key in
                try await takes(key, pins: ["654321", "123456"])
                try await isManaged(key, pins: ["654321", "123456"])
            }, again: { try await changePINAgain($0) },
            isDone: { key in
                try await takes(key, pins: ["654321"])
                try await isManaged(key, pins: ["654321"])
            }),
        Operation(
            name: "change the PUK",
            run: { try await open($0).changePUK(from: pin("12345678"), to: pin("87654321")) },
            holds: { try await takes($0, pins: ["123456"], puks: ["87654321", "12345678"]) },
            again: { key in
                do { try await open(key.link()).changePUK(from: pin("87654321"), to: pin("87654321")) } catch PIVError
                    .wrong
                { try await open(key.link()).changePUK(from: pin("12345678"), to: pin("87654321")) }
            }, isDone: { try await takes($0, pins: ["123456"], puks: ["87654321"]) }),
        Operation(
            name: "unblock the PIN", prepare: { try await open($0.link()).blockPIN() },
            run: { try await open($0).unblockPIN(puk: pin("12345678"), newPIN: pin("654321")) },
            holds: { key in
                do { try await takes(key, pins: ["654321"]) } catch PIVError.blocked {
                    try await open(key.link()).unblockPIN(puk: pin("12345678"), newPIN: pin("654321"))
                }
            }, isDone: { try await takes($0, pins: ["654321"]) }),
        Operation(
            name: "set retries", run: { try await setRetries($0) }, holds: { try await takes($0, pins: ["123456"]) },
            isDone: { key in
                try require(try await open(key.link()).metadata(of: .puk)?.triesTotal == 6, "tries of the PUK")
            }),
        Operation(
            name: "reset",
            prepare: { key in
                try await open(key.link()).changePIN(from: pin("123456"), to: pin("654321"))
                try await give(key.link())
            }, run: { try await open($0).reset() },
            holds: { key in
                // Blocked on the way, or reset: in both cases the next reset works.
                try await open(key.link()).reset()
                try await isManaged(key)
            },
            isDone: { key in
                try await takes(key, pins: ["123456"])
                try await isManaged(key)
            }),
    ]
}
