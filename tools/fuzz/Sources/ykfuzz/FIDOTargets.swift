// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKFIDO
import YKTransport
import YKWire

private let zeros = [UInt8](repeating: 0, count: 32)
private let relyingParty = RelyingParty(id: "example.com")
private let platformKey = COSEKey(ec2: .p256, algorithm: .ecdhESHKDF256, x: zeros, y: zeros)

extension FuzzTarget {
    static let fido: [FuzzTarget] = [
        FuzzTarget(name: "ctap-reply") { bytes in
            guard let choice = bytes.first,
                let fields = try? CBOR.Fields(decoding: Array(bytes.dropFirst()), "the answer")
            else { return }
            readReply(choice, fields)
        },
        FuzzTarget(name: "ctap-session") { bytes in
            guard let choice = bytes.first else { return }
            let info = goodInfo(hasPIN: choice & 0x40 != 0, version: choice & 0x80 == 0 ? 1 : 2)
            withFIDO(pieces(Array(bytes.dropFirst())), info: info) { try await doOperation(choice & 0x1F, $0) }
        },
        FuzzTarget(name: "ctap-info") { bytes in
            withFIDO([], info: bytes) { service in
                _ = try await service.info()
                _ = try await service.register(
                    RegistrationRequest(clientDataHash: zeros, relyingParty: relyingParty, user: FIDOUser(id: [1])))
            }
        },
        FuzzTarget(name: "u2f") { bytes in
            if let made = try? U2FRegistration(decoding: bytes) {
                try? made.verify(challengeHash: zeros, applicationHash: zeros)
                let object = made.attestationObject(applicationHash: zeros)
                require((try? AttestationObject(decoding: object.encoded)) == object, "a registration changes")
            }
            guard let signed = try? U2FSignature(decoding: bytes) else { return }
            try? signed.verify(challengeHash: zeros, applicationHash: zeros, publicKey: platformKey)
        },
        FuzzTarget(name: "client-data") { bytes in
            guard let data = try? ClientData(parsing: bytes) else { return }
            require(data.bytes == bytes, "client data change when read")
            _ = try? Origin(data.origin)
        },
        FuzzTarget(name: "signing-key") { bytes in
            if let file = try? PreviewSign.KeyFile(json: bytes) {
                let again = try? PreviewSign.KeyFile(json: Array(file.json.text.utf8))
                require(again?.key == file.key, "a signing key changes when written and read")
                _ = file.key.policy
                _ = try? AttestationVerification(rpID: file.rpID).check(file.key, clientDataHash: zeros)
                _ = try? PreviewSign.Seed(file.key.publicKey).derive(Secret(zeros), context: [])
            }
            if let key = try? PreviewSign.DerivedKey(json: bytes) {
                require(
                    (try? PreviewSign.DerivedKey(json: Array(key.json.text.utf8))) == key, "a derived key changes")
            }
            if let arguments = try? PreviewSign.Arguments(decoding: bytes) {
                require(
                    (try? PreviewSign.Arguments(decoding: arguments.encoded)) != nil, "arguments cannot be read again")
            }
        },
        FuzzTarget(name: "webauthn-options") { bytes in
            _ = try? PublicKeyCredentialCreationOptions(parsing: bytes)
            _ = try? PublicKeyCredentialRequestOptions(parsing: bytes)
            _ = try? RegistrationResponse(parsing: bytes)
            _ = try? AuthenticationResponse(parsing: bytes)
        },
    ]
}

/// Reads an answer as that of the command with this number.
private func readReply(_ choice: UInt8, _ fields: CBOR.Fields) {
    switch choice % 8 {
    case 0: _ = try? GetInfo().decode(fields)
    case 1:
        let command = MakeCredential(
            clientDataHash: zeros, relyingParty: relyingParty, user: FIDOUser(id: [1]))
        guard let made = try? command.decode(fields) else { return }
        let object = made.attestationObject
        require((try? AttestationObject(decoding: object.encoded)) != nil, "an attestation object cannot be read again")
    case 2: _ = try? GetAssertion(rpID: "example.com", clientDataHash: zeros).decode(fields)
    case 3: _ = try? ClientPIN.GetPINRetries().decode(fields)
    case 4: _ = try? ClientPIN.GetUVRetries().decode(fields)
    case 5: _ = try? ClientPIN.GetKeyAgreement(.two).decode(fields)
    case 6: _ = try? ClientPIN.GetToken(.two, platformKey: platformKey, .pin(hash: zeros)).decode(fields)
    default: _ = try? LargeBlobs.Get(offset: 0, count: 100).decode(fields)
    }
}

/// Does the operation of this number, with whatever messages it takes.
private func doOperation(_ number: UInt8, _ service: FIDOService) async throws {
    let key = SharedSecret(Secret(zeros))
    switch number {
    case 0, 1:
        var request = RegistrationRequest(
            clientDataHash: zeros, relyingParty: relyingParty, user: FIDOUser(id: [1]))
        if number == 1 { request.extensions.salts = HMACSecretSalts(zeros, zeros) }
        _ = try await service.register(request)
    case 2, 3:
        var request = AssertionRequest(rpID: "example.com", clientDataHash: zeros)
        if number == 3 { request.extensions.salts = HMACSecretSalts(zeros) }
        _ = try await service.assert(request)
    case 4: _ = try await service.relyingParties()
    case 5:
        guard let party = try await service.relyingParties().first else { return }
        _ = try await service.credentials(of: party)
    case 6: _ = try await service.credentialStorage()
    case 7: _ = try await service.largeBlob(key: key)
    case 8: try await service.setLargeBlob([1, 2, 3], key: key)
    case 9: _ = try await service.fingerprints()
    case 10: _ = try await service.nextSample(of: try await service.beginEnrollment().template)
    case 11: _ = try await service.fingerprintSensor()
    case 12: try await service.setPIN(SharedSecret(Secret(utf8: "12345")))
    case 13:
        try await service.changePIN(from: SharedSecret(Secret(utf8: "12345")), to: SharedSecret(Secret(utf8: "67890")))
    case 14: try await service.configure(.toggleAlwaysUV)
    case 15: try await service.select()
    case 16: _ = try await service.u2fRegister(challengeHash: zeros, applicationHash: zeros)
    case 17: _ = try await service.u2fAuthenticate(challengeHash: zeros, applicationHash: zeros, keyHandle: [1])
    case 18: _ = try await service.u2fKnows(keyHandle: [1], applicationHash: zeros)
    case 19: try await service.verifyPIN(SharedSecret(Secret(utf8: "12345")))
    default: _ = try await service.pinRetries()
    }
}
