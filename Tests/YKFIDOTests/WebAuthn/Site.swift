// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKCrypto
import YKFIDO
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// How a client reaches the virtual key.
enum Way: CaseIterable {
    case card, hid
}

/// A relying party's site, and a client on a virtual key.
struct Site {
    let bench: Bench
    let client: WebAuthnClient
    let origin = "https://login.example.com"

    init(
        _ way: Way = .card, pin: String? = nil, inputs: VirtualInputs = VirtualInputs(),
        version: FirmwareVersion = FirmwareVersion(5, 7, 1)
    ) async throws {
        bench = try Bench(pin: pin, inputs: inputs, version: version)
        let pins = bench.pins
        let interaction = FIDOInteraction(pin: { pins.give($0) })
        let service =
            switch way {
            case .card: try await bench.open()
            case .hid:
                try await FIDOService.open(
                    hid: bench.key.reportLink(), environment: .instant, interaction: interaction)
            }
        if let pin { try await service.setPIN(secret(pin)) }
        client = WebAuthnClient(service: service, origin: try Origin(origin))
    }

    /// Options as a server's JSON, with members added or replaced.
    static func creation(
        _ members: JSONValue = [:], extensions: JSONValue = [:]
    ) throws -> PublicKeyCredentialCreationOptions {
        var object = try #require(
            JSONValue(
                parsing: #"""
                    {"rp":{"id":"example.com","name":"Example"},
                    "user":{"id":"AQID","name":"alice","displayName":"Alice"},"challenge":"Y2hhbGxlbmdl",
                    "pubKeyCredParams":[{"type":"public-key","alg":-7}],"attestation":"direct"}
                    """#
            ).object)
        for member in members.object?.members ?? [] { object[member.key] = member.value }
        object["extensions"] = extensions
        return try PublicKeyCredentialCreationOptions(json: ["publicKey": .object(object)])
    }

    static func request(
        _ allowed: [[UInt8]] = [], _ members: JSONValue = [:], extensions: JSONValue = [:]
    ) throws -> PublicKeyCredentialRequestOptions {
        var object = JSONValue.Object()
        object["challenge"] = "Y2hhbGxlbmdl"
        object["rpId"] = "example.com"
        object["allowCredentials"] = .array(
            allowed.map { ["type": "public-key", "id": .string(Base64.encodeURL($0)), "transports": ["usb"]] })
        for member in members.object?.members ?? [] { object[member.key] = member.value }
        object["extensions"] = extensions
        return try PublicKeyCredentialRequestOptions(json: .object(object))
    }

    /// Checks an answer as a relying party does, and gives what vouches for it.
    @discardableResult
    func verify(_ made: RegistrationResponse) throws -> AttestationVerification.Trust {
        let copy = try RegistrationResponse(parsing: Array(made.json.text.utf8))
        expect(copy, is: made)
        let data = try ClientData(parsing: try #require(copy.clientDataJSON))
        #expect(data.type == .create && data.origin == origin && data.challenge == Array("challenge".utf8))
        return try AttestationVerification(rpID: "example.com").check(
            copy.attestationObject, clientDataHash: data.hash)
    }

    func verify(_ signed: AuthenticationResponse, by made: RegistrationResponse, rpID: String = "example.com") throws {
        let copy = try AuthenticationResponse(parsing: Array(signed.json.text.utf8))
        expect(copy, is: signed)
        expect(copy.id, is: made.id)
        let data = try ClientData(parsing: try #require(copy.clientDataJSON))
        #expect(data.origin == origin && data.challenge == Array("challenge".utf8))
        try AssertionVerification(rpID: rpID, publicKey: try #require(made.publicKey)).check(
            copy.authenticatorData, signature: copy.signature, clientDataHash: data.hash)
    }
}

/// Expects a call to fail as a browser would name it.
func expect<Value>(
    _ name: DOMExceptionName, _ location: SourceLocation = #_sourceLocation, _ body: () async throws -> Value
) async {
    do {
        _ = try await body()
        Issue.record("no error", sourceLocation: location)
    } catch let error as WebAuthnError {
        expect(error.name, is: name, "\(error)", sourceLocation: location)
    } catch {
        Issue.record(error, sourceLocation: location)
    }
}
