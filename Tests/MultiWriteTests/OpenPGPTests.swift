// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKOpenPGP
import YKTransport
import YKVirtualKey
import YKWire

struct OpenPGPTests {
    @Test("keys and certificates are the old or the new ones", arguments: OpenPGPOperations.contents)
    func contents(_ operation: Operation) async throws { try await operation.proveNothingIsLost() }

    @Test("PINs are the old or the new ones", arguments: OpenPGPOperations.codes)
    func codes(_ operation: Operation) async throws { try await operation.proveNothingIsLost() }
}

/// What the OpenPGP application does in more than one exchange.
enum OpenPGPOperations {
    static func open(_ link: sending any CardLink) async throws -> OpenPGPService { try await .open(channel(link)) }
    static let (user, admin) = ("123456", "12345678")
    static let (newUser, newAdmin) = ("user-654321", "admin-87654321")

    static func administer(_ link: sending any CardLink) async throws -> OpenPGPService {
        let service = try await open(link)
        try await service.verify(Secret(utf8: admin), for: .administration)
        return service
    }

    // MARK: KeyRing

    static func imported() throws -> PrivateKey { try PrivateKey(ed25519: Secret([UInt8](repeating: 7, count: 32))) }

    /// A decryption key, which no operation may touch.
    static func bystander(_ key: VirtualKey) async throws {
        let service = try await administer(key.link())
        let number = try PrivateKey(x25519: Secret([UInt8](repeating: 9, count: 32)))
        _ = try await service.importKey(number, .decryption, created: 5)
        try await service.putCertificate([0x30, 0x01, 0x02], .decryption)
    }

    static func isThere(_ key: VirtualKey) async throws {
        let service = try await administer(key.link())
        try await service.verify(Secret(utf8: user), for: .using)
        let number = try PrivateKey(x25519: Secret([UInt8](repeating: 9, count: 32)))
        let peer = try PrivateKey(x25519: Secret([UInt8](repeating: 3, count: 32))).publicKey
        let expected = try number.shared(with: peer).value.copyBytes()
        try require(try await service.derive(with: peer).value.copyBytes() == expected, "the other key")
        try require(try await service.certificate(.decryption) == [0x30, 0x01, 0x02], "the other certificate")
        let info = try await service.status().keys[1]
        let named = OpenPGPPublicKey(number.publicKey, in: .decryption, created: 5)
        try require(info.fingerprint == named.fingerprint && info.created == 5, "the other fingerprint")
    }

    /// The key in the signature slot is the one that fingerprint and time name.
    static func isNamed(_ key: VirtualKey, _ expected: PublicKey? = nil) async throws {
        let service = try await open(key.link())
        let present = try await service.publicKey(.signature)
        let info = try await service.status().keys[0]
        let named = OpenPGPPublicKey(present, in: .signature, created: info.created ?? 0)
        try require(info.fingerprint == named.fingerprint, "the fingerprint of the key")
        try require(expected == nil || present == expected, "the imported key")
    }

    static func importing(_ link: sending any CardLink) async throws {
        _ = try await administer(link).importKey(imported(), .signature, created: 11)
    }

    static func isEmpty(_ key: VirtualKey) async throws {
        let service = try await open(key.link())
        do {
            _ = try await service.publicKey(.signature)
            throw Lost("the deletion")
        } catch OpenPGPError.noKey {}
        let info = try await service.status().keys[0]
        try require(info.fingerprint == nil && info.created == nil, "no fingerprint")
    }

    static func certificate(_ key: VirtualKey) async throws -> [UInt8]? {
        do { return try await open(key.link()).certificate(.signature) } catch OpenPGPError.noCertificate { return nil }
    }

    static let contents: [Operation] =
        [DeviceModel.yubiKey, .openPGP].flatMap { model in
            [
                Operation(
                    name: "generate a key (\(model))", model: model, prepare: bystander,
                    run: { _ = try await administer($0).generateKey(.signature, .ed25519) }, holds: isThere,
                    isDone: { try await isNamed($0) }),
                Operation(
                    name: "import a key (\(model))", model: model, prepare: bystander, run: { try await importing($0) },
                    holds: isThere, isDone: { try await isNamed($0, imported().publicKey) }),
                Operation(
                    name: "delete a key (\(model))", model: model,
                    prepare: { key in
                        try await bystander(key)
                        try await importing(key.link())
                    }, run: { try await administer($0).deleteKey(.signature) }, holds: isThere,
                    isDone: { try await isEmpty($0) }),
                Operation(
                    name: "write a certificate (\(model))", model: model, prepare: bystander,
                    run: { try await administer($0).putCertificate([0x30, 0x01, 0x07], .signature) },
                    holds: isThere, isDone: { try require(try await certificate($0) == [0x30, 1, 7], "it") }),
                Operation(
                    name: "delete a certificate (\(model))", model: model,
                    prepare: { key in
                        try await bystander(key)
                        try await administer(key.link()).putCertificate([0x30, 0x01, 0x07], .signature)
                    }, run: { try await administer($0).deleteCertificate(.signature) }, holds: isThere,
                    isDone: { try require(try await certificate($0) == nil, "the deletion") }),
                Operation(
                    name: "reset (\(model))", model: model, prepare: bystander, run: { try await reset($0) },
                    holds: { _ = try await OpenPGPService.activate(channel($0.link())) },
                    isDone: { key in
                        try await isEmpty(key)
                        try await takes(key, [user], [admin])
                    }),
            ]
        } + [
            Operation(
                name: "set a touch policy",
                prepare: { key in
                    try await bystander(key)
                    try await importing(key.link())
                }, run: { try await administer($0).setTouch(.on, .signature) }, holds: isThere,
                isDone: { key in
                    try await isNamed(key, imported().publicKey)
                    try require(try await open(key.link()).status().keys[0].touch == .on, "the policy")
                }),
            Operation(
                name: "attest a key",
                prepare: { key in
                    try await bystander(key)
                    _ = try await administer(key.link()).generateKey(.signature, .ed25519)
                },
                run: { link in
                    let service = try await open(link)
                    try await service.verify(Secret(utf8: user), for: .signing)
                    _ = try await service.attest(.signature)
                }, holds: isThere,
                isDone: { try require(try await certificate($0)?.first == 0x30, "the statement") }),
        ]

    /// Blocks the PINs and makes the application that of a new card; one that was terminated is activated.
    static func reset(_ link: sending any CardLink) async throws {
        try await OpenPGPService.activate(channel(link)).reset()
    }

    // MARK: PINs

    /// Each PIN is one of these, as a person would type it.
    static func takes(_ key: VirtualKey, _ users: [String], _ admins: [String]) async throws {
        for (texts, access) in [(users, OpenPGPAccess.using), (admins, .administration)] {
            var isKnown = false
            for text in texts where !isKnown {
                do {
                    try await open(key.link()).verify(Secret(utf8: text), for: access)
                    isKnown = true
                } catch OpenPGPError.wrongPIN {}
            }
            try require(isKnown, "\(access)")
        }
    }

    /// Runs an operation with the old admin PIN, and with the new one where that is wrong.
    static func either(
        _ key: VirtualKey, _ operation: (OpenPGPService, String) async throws -> Void
    ) async throws {
        for (index, text) in [admin, newAdmin].enumerated() {
            do { return try await operation(open(key.link()), text) } catch OpenPGPError.wrongPIN where index == 0 {}
        }
    }

    static func setUp(_ service: OpenPGPService, _ present: String) async throws {
        try await service.setUpKDF(
            admin: Secret(utf8: present), newUser: Secret(utf8: newUser), newAdmin: Secret(utf8: newAdmin), count: 1000)
    }

    static func end(_ service: OpenPGPService, _ present: String) async throws {
        do {
            try await service.endKDF(
                admin: Secret(utf8: present), newUser: Secret(utf8: newUser), newAdmin: Secret(utf8: newAdmin))
        } catch OpenPGPError.badInput {
            // It is ended already; what is left are the PINs.
            try await service.verify(Secret(utf8: present), for: .administration)
            try await service.resetPIN(to: Secret(utf8: newUser))
            try await service.changePIN(.admin, from: Secret(utf8: present), to: Secret(utf8: newAdmin))
        }
    }

    static func derivation(_ key: VirtualKey) async throws -> OpenPGPKDF? { try await open(key.link()).kdf() }

    /// Whether a derivation is set up or not, somebody who knows the PINs gets the card into order.
    static func isRecoverable(_ key: VirtualKey) async throws {
        let copy = VirtualKey(key.state, inputs: Operation.inputs)
        try await either(copy) { try await setUp($0, $1) }
        try await takes(copy, [newUser], [newAdmin])
    }

    static let codes: [Operation] =
        [DeviceModel.yubiKey, .openPGP].flatMap { model in
            [
                Operation(
                    name: "change the user PIN (\(model))", model: model,
                    run: { try await open($0).changePIN(.user, from: Secret(utf8: user), to: Secret(utf8: newUser)) },
                    holds: { try await takes($0, [user, newUser], [admin]) },
                    again: { key in
                        do { try await takes(key, [newUser], [admin]) } catch is Lost {
                            try await open(key.link())
                                .changePIN(.user, from: Secret(utf8: user), to: Secret(utf8: newUser))
                        }
                    }, isDone: { try await takes($0, [newUser], [admin]) }),
                Operation(
                    name: "set up a key derivation (\(model))", model: model, run: { try await setUp(open($0), admin) },
                    holds: { try await isRecoverable($0) }, again: { try await either($0) { try await setUp($0, $1) } },
                    isDone: { key in
                        try require(try await derivation(key) != nil, "the derivation")
                        try await takes(key, [newUser], [newAdmin])
                    }),
                Operation(
                    name: "end a key derivation (\(model))", model: model,
                    prepare: { key in
                        try await open(key.link()).setUpKDF(
                            admin: Secret(utf8: admin), newUser: Secret(utf8: user), newAdmin: Secret(utf8: admin),
                            count: 1000)
                    }, run: { try await end(open($0), admin) }, holds: { try await isRecoverable($0) },
                    again: { try await either($0) { try await end($0, $1) } },
                    isDone: { key in
                        try require(try await derivation(key) == nil, "the end of the derivation")
                        try await takes(key, [newUser], [newAdmin])
                    }),
            ]
        }
}
