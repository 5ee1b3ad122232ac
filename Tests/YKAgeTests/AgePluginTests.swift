// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKCrypto
import YKTestSupport
import YKWire

@testable import YKAge

/// The state machines, played by a client and keys in software.
struct AgePluginTests {
    /// Plays age: says what it was given, then answers questions, and keeps what the plugin sent.
    final class Client: AgeConnection {
        private let state: Mutex<(told: [AgeStanza], sent: [AgeStanza])>
        private let pin: String?
        private let choice: String

        init(_ told: [AgeStanza], pin: String? = "123456", choice: String = "yes") {
            state = Mutex((told + [AgeStanza("done")], []))
            (self.pin, self.choice) = (pin, choice)
        }

        var sent: [AgeStanza] { state.withLock { $0.sent } }

        func receive() throws(AgeError) -> AgeStanza {
            let next = state.withLock { $0.told.isEmpty ? nil : $0.told.removeFirst() }
            guard let next else { throw .connection("at its end") }
            return next
        }

        func send(_ stanza: AgeStanza) throws(AgeError) {
            let answer: AgeStanza =
                switch stanza.type {
                case "request-secret": pin.map { AgeStanza("ok", body: Array($0.utf8)) } ?? AgeStanza("fail")
                case "confirm": AgeStanza("ok", [choice])
                default: AgeStanza("ok")
                }
            state.withLock {
                $0.sent.append(stanza)
                if stanza.type != "done" { $0.told.append(answer) }
            }
        }
    }

    struct Broken: Error {}

    /// Keys in software, by slot; and one secret for every credential.
    struct Keys: AgeKeySource {
        var slots: [UInt8: PrivateKey] = [:]
        var credentials: SharedSecret?
        var isBroken = false

        func slotKeys(serial: UInt32?, slot: UInt8?) async throws -> [AgeSlotKey] {
            slots.sorted { $0.key < $1.key }.filter { slot == nil || slot == $0.key }.compactMap { slot, own in
                AgePublicKey(own.publicKey).map { AgeSlotKey(slot: slot, serial: serial ?? 1, key: $0) }
            }
        }

        func agree(_ key: AgeSlotKey, with peer: PublicKey) async throws -> SharedSecret? {
            if isBroken { throw Broken() }
            return try slots[key.slot]?.shared(with: peer)
        }

        func secret(of credential: AgeCredential) async throws -> SharedSecret? {
            if isBroken { throw Broken() }
            return credentials
        }

        func ephemeral() throws -> SharedSecret {
            if isBroken { throw Broken() }
            return AgeWrappingTests.ephemeral(0x21)
        }

        func words(_ error: any Error) -> String { "\(error)" }
    }

    static func run(_ plugin: AgePlugin, _ told: [AgeStanza], _ keys: Keys) async throws -> [AgeStanza] {
        let client = Client(told)
        _ = try await plugin.run(AgeDialogue(client), keys)
        expect(client.sent.last?.type, is: "done")
        return client.sent.dropLast()
    }

    static func keys() throws -> Keys {
        Keys(
            slots: [0x82: try AgeWrappingTests.p256(3).own, 0x83: try AgeWrappingTests.x25519(5).own],
            credentials: AgeWrappingTests.ephemeral(0x33))
    }

    static func wrapped(_ words: [AgeStanza], _ keys: Keys) async throws -> [AgeStanza] {
        let fileKey = AgeStanza("wrap-file-key", body: AgeWrappingTests.fileKey)
        return try await run(.recipient, words + [fileKey, AgeStanza("grease-1", ["x"])], keys)
    }

    @Test("What is wrapped for recipients and identities is unwrapped by each identity")
    func wrapsAndUnwraps() async throws {
        let keys = try Self.keys()
        let (p256, x25519) = (try AgeWrappingTests.p256(3).key, try AgeWrappingTests.x25519(5).key)
        let credential = try #require(AgeFormatTests.credential)
        let secret = try #require(keys.credentials)
        let own = try #require(AgePublicKey(try PrivateKey(x25519: secret.value).publicKey)).bytes
        let identities: [(AgeIdentity, String)] = [
            (.slot(0x82, serial: 1, key: p256), "p256tag"), (.slot(0x83, serial: 1, key: x25519), "X25519"),
            (.yubikey(0x82, serial: 1, tag: p256.tag), "piv-p256"), (.fido2(credential, publicKey: nil), "X25519"),
            (.fido2(credential, publicKey: own), "X25519"),
        ]
        for (identity, type) in identities {
            let sent = try await Self.wrapped([AgeStanza("add-identity", [identity.text])], keys)
            expect(sent.map(\.type), is: ["recipient-stanza"])
            expect(sent.first?.arguments.prefix(2), is: ["0", type])
            let told = [AgeStanza("add-identity", [identity.text]), try #require(sent.first)]
            try await expect(
                Self.run(.identity, told, keys),
                is: [
                    AgeStanza("file-key", ["0"], body: AgeWrappingTests.fileKey)
                ])
            let any = [AgeStanza("add-identity", [AgeIdentity.any.text]), try #require(sent.first)]
            let found = try await Self.run(.identity, any, keys)
            expect(found.first?.type, is: (identity.isOfFIDO2 ? nil : "file-key"))
        }
        let fido = AgeRecipient.fido2(credential, publicKey: own)
        let sent = try await Self.wrapped([AgeStanza("add-recipient", [fido.text()])], keys)
        for identity in [AgeIdentity.any, .fido2(credential, publicKey: own)] {
            let told =
                [AgeStanza("add-identity", [identity.text])] + sent + [
                    AgeStanza(
                        "recipient-stanza", ["1"] + (sent.first?.arguments.dropFirst() ?? []),
                        body: sent.first?.body ?? [])
                ]
            try await expect(Self.run(.identity, told, keys).map(\.arguments), is: [["0"], ["1"]])
        }
    }

    @Test("Nothing is wrapped when one recipient or identity cannot be")
    func wrapErrors() async throws {
        let keys = try Self.keys()
        let recipient = AgeRecipient.x25519(try AgeWrappingTests.x25519(5).key.bytes).text()
        let other = AgeIdentity.yubikey(0x82, serial: 1, tag: [0, 0, 0, 0])
        let credential = try #require(AgeFormatTests.credential)
        for (words, wanted) in [
            (AgeStanza("add-recipient", ["age1nothing"]), ["recipient", "1"]),
            (AgeStanza("add-identity", ["AGE-PLUGIN-1"]), ["identity", "0"]),
            (AgeStanza("add-identity", [AgeIdentity.any.text]), ["identity", "0"]),
            (AgeStanza("add-identity", [other.text]), ["identity", "0"]),
        ] {
            let sent = try await Self.wrapped([AgeStanza("add-recipient", [recipient]), words], keys)
            expect(sent.map(\.type), is: ["error"])
            expect(sent.first?.arguments, is: wanted)
        }
        let without = Keys()
        let identity = AgeStanza("add-identity", [AgeIdentity.fido2(credential, publicKey: nil).text])
        try await expect(Self.wrapped([identity], without).first?.arguments, is: ["identity", "0"])
        var broken = keys
        broken.isBroken = true
        let one = AgeStanza("add-recipient", [recipient])
        try await expect(Self.wrapped([one], broken).first?.arguments, is: ["internal"])
        let short = try await Self.run(.recipient, [one, AgeStanza("wrap-file-key", body: [1])], keys)
        expect(short.first?.arguments, is: ["internal"])
    }

    @Test("A malformed stanza and a failing key are reported, an absent one is not")
    func unwrapErrors() async throws {
        let keys = try Self.keys()
        let p256 = try AgeWrappingTests.p256(3).key
        let identity = AgeStanza("add-identity", [AgeIdentity.slot(0x82, serial: 1, key: p256).text])
        let bad = AgeStanza("recipient-stanza", ["0", "X25519", "AA"], body: [1])
        let sent = try await Self.run(.identity, [identity, bad, AgeStanza("add-identity", ["nothing"])], keys)
        expect(sent.map(\.arguments), is: [["identity", "1"], ["stanza", "0", "0"]])
        let wrapped = try await Self.wrapped([identity], keys)
        var broken = keys
        broken.isBroken = true
        try await expect(Self.run(.identity, [identity] + wrapped, broken).map(\.arguments), is: [["identity", "0"]])
        #expect(try await Self.run(.identity, [identity] + wrapped, Keys()).isEmpty)
        let credential = try #require(AgeFormatTests.credential)
        let fido = AgeStanza("add-identity", [AgeIdentity.fido2(credential, publicKey: nil).text])
        let native = AgeStanza("add-recipient", [AgeRecipient.x25519(try AgeWrappingTests.x25519(5).key.bytes).text()])
        let others = try await Self.wrapped([native], keys)
        #expect(try await Self.run(.identity, [fido] + others + others, Keys()).isEmpty)
        #expect(try await Self.run(.identity, [fido] + others, keys).isEmpty)
    }

    /// A stanza as age-plugin-fido2-hmac of format 1 wrote it: salt, nonce, flag and credential.
    private static let formatOne = AgeStanza(
        "recipient-stanza",
        ["0", "fido2-hmac"]
            + [
                [UInt8](repeating: 7, count: 32), [UInt8](repeating: 8, count: 12), [1],
                [UInt8](repeating: 9, count: 96),
            ]
            .map { Base64.encode($0, padded: false) },
        body: [UInt8](repeating: 1, count: 32))

    @Test("A stanza of another format, or for a post-quantum recipient, leaves the others to be unwrapped")
    func foreignStanzas() async throws {
        let keys = try Self.keys()
        let p256 = try AgeWrappingTests.p256(3).key
        let identity = AgeStanza("add-identity", [AgeIdentity.slot(0x82, serial: 1, key: p256).text])
        let own = try await Self.wrapped([identity], keys)
        let quantum = AgeStanza("recipient-stanza", ["0", "mlkem768x25519", "AAAA"], body: [1])
        try await expect(
            Self.run(.identity, [identity, Self.formatOne, quantum] + own, keys),
            is: [
                AgeStanza("file-key", ["0"], body: AgeWrappingTests.fileKey)
            ])
        #expect(try await Self.run(.identity, [identity, Self.formatOne], keys).isEmpty)
        let told = try await Self.run(.identity, [identity, quantum], keys)
        #expect(told.map(\.type) == ["msg"] && String(decoding: told[0].body, as: UTF8.self).contains("post-quantum"))
    }

    @Test("A client that does not follow the protocol is refused")
    func protocolErrors() async throws {
        let keys = Keys()
        let stanza = AgeStanza("recipient-stanza", ["1", "scrypt"], body: [])
        let earlier = AgeStanza("recipient-stanza", ["0", "scrypt"], body: [])
        for told in [[stanza, earlier], [AgeStanza("recipient-stanza", ["x", "scrypt"])]] {
            await #expect(throws: AgeError.self) { try await AgePlugin.identity.run(AgeDialogue(Client(told)), keys) }
        }
        let many = [AgeStanza](repeating: AgeStanza("add-identity", ["x"]), count: AgePlugin.limit + 1)
        for plugin in AgePlugin.allCases {
            await #expect(throws: AgeError.self) { try await plugin.run(AgeDialogue(Client(many)), keys) }
        }
    }

    @Test("The person is asked through the client")
    func questions() throws {
        let client = Client([])
        let dialogue = AgeDialogue(client)
        _ = try client.receive()
        dialogue.say("touch the key")
        #expect(try dialogue.confirms("Insert the key.", yes: "Done", no: "Skip"))
        try expect(dialogue.secret("PIN")?.value.copyBytes(), is: Array("123456".utf8))
        expect(client.sent.map(\.type), is: ["msg", "confirm", "request-secret"])
        expect(client.sent[1].arguments, is: ["RG9uZQ", "U2tpcA"])
        let silent = Client([], pin: nil, choice: "no")
        _ = try silent.receive()
        let other = AgeDialogue(silent)
        #expect(try !other.confirms("Insert the key.", yes: "Done", no: "Skip"))
        #expect(try other.secret("PIN") == nil)
    }
}

extension AgeIdentity {
    fileprivate var isOfFIDO2: Bool { if case .fido2 = self { true } else { false } }
}
