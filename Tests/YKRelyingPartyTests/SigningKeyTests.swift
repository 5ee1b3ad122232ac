// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKFIDO
import YKRelyingParty
import YKTestSupport
import YKTransport
import YKWire
import YKX509

/// previewSign between a relying party and a virtual key of firmware 5.8.
struct SigningKeyTests {
    private func server(_ change: (inout WebAuthnRelyingParty) -> Void = { _ in }) throws -> Server {
        try Server {
            $0.attestation = .direct(TrustAnchors { $0.chain.map(\.der) })
            change(&$0)
        }
    }

    private static var wanted: RegistrationRequirements {
        var wanted = RegistrationRequirements()
        wanted.extensions.signingKeyAlgorithms = [.esp256Split, .esp256SplitARKG]
        return wanted
    }

    @Test func makesAKeyThatSigns() async throws {
        let key = try await VirtualClient.open(version: FirmwareVersion(5, 8, 0))
        let server = try server()
        let made = try await server.register(key.create, asking: Self.wanted)
        let signing = try #require(made.signingKey)
        #expect(signing.algorithm == .esp256SplitARKG && signing.policy == .presence)
        let derived = try PreviewSign.Seed(signing.publicKey).derive(
            Secret([UInt8](repeating: 5, count: 32)), context: Array("contracts".utf8))
        var asked = AuthenticationRequirements()
        asked.extensions.signing[made.record.id] = try PreviewSign.Input(
            keyHandle: signing.keyHandle, toBeSigned: HashAlgorithm.sha256.hash("contract".utf8),
            arguments: derived.arguments.encoded)
        let signed = try await server.authenticate(key.get, allowing: [made.record], asking: asked)
        try derived.publicKey.verify(try #require(signed.signature), over: Array("contract".utf8))
        let unasked = try await server.authenticate(key.get, allowing: [signed.record])
        expect(unasked.signature, is: nil)
    }

    @Test func acceptsAnAuthenticatorWithoutIt() async throws {
        let key = try await VirtualClient.open()
        let server = try server()
        let made = try await server.register(key.create, asking: Self.wanted)
        expect(made.signingKey, is: nil)
        var asked = AuthenticationRequirements()
        asked.extensions.signing[made.record.id] = try PreviewSign.Input(keyHandle: [1], toBeSigned: [1])
        await refused(.extension("previewSign")) {
            try await server.authenticate(key.get, allowing: [made.record], asking: asked)
        }
    }

    @Test func ignoresAKeyThatWasNotRequested() async throws {
        let key = try await VirtualClient.open(version: FirmwareVersion(5, 8, 0))
        let made = try await server().register { options in
            var options = options
            options.extensions["previewSign"] = ["generateKey": ["algorithms": [-65539]]]
            return try await key.create(options)
        }
        expect(made.signingKey, is: nil)
    }

    /// Results are the client's word, so the key in them is believed only with its attestation.
    @Test func refusesOtherKeys() async throws {
        let key = try await VirtualClient.open(version: FirmwareVersion(5, 8, 0))
        let other = try await VirtualClient.open(version: FirmwareVersion(5, 8, 0))
        let server = try server()
        func register(
            _ change: @escaping (inout JSONValue.Object, RegistrationResponse) throws -> Void
        ) async throws -> VerifiedRegistration {
            try await server.register(
                { options in
                    let made = try await key.create(options)
                    var results = made.clientExtensionResults
                    try change(&results, try await other.create(options))
                    return RegistrationResponse(
                        clientDataJSON: made.clientDataJSON, attestationObject: made.attestationObject,
                        transports: made.transports, attachment: made.attachment, clientExtensionResults: results)
                }, asking: Self.wanted)
        }
        await #expect(throws: CeremonyError.self) {
            try await register { results, _ in results["previewSign"] = ["generatedKey": [:]] }
        }
        await refused(.algorithm(.esp256)) {
            try await register { results, _ in
                guard var made = results["previewSign"]?["generatedKey"]?.object else { return }
                made["algorithm"] = -9
                results["previewSign"] = ["generatedKey": .object(made)]
            }
        }
        let later = try #require(
            try await other.create(
                try await server.party.beginRegistration(of: Server.alice, session: "x", Self.wanted).options
            )
            .clientExtensionResults["previewSign"])
        await refused(.attestation(.badSignature)) {
            try await register { results, _ in results["previewSign"] = later }
        }
        #expect(try await register { _, _ in }.signingKey != nil)
        try await expect(register { results, _ in results["previewSign"] = nil }.signingKey, is: nil)
    }
}
