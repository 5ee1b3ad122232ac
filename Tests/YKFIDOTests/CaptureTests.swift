// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCapture
import YKCrypto
import YKFIDO
import YKTestSupport
import YKTransport
import YKWire

/// The shared recordings of a CanoKey.
struct CaptureTests {
    @Test(arguments: Recordings.all)
    func readsGetInfo(_ name: String) async throws {
        let info = try await Recordings.open(name).info()
        expect(info.versions, is: [.u2fV2, .fido20, .fido21])
        expect(info.extensions, is: ["credBlob", "credProtect", "hmac-secret", "largeBlobKey"])
        expect(Hex.encode(info.aaguid), is: "244eb29ee0904e4981fe1f20f8d3b8f4")
        expect(info.maxMessageSize, is: 1300)
        expect(info.pinProtocols, is: [1, 2])
        expect(info.algorithms, is: [.es256, .edDSA, COSEAlgorithm(-48)])
        #expect(info.takesPIN && info.hasPIN && info.hasPermissions && info.hasCredentialManagement)
    }

    @Test func readsRetries() async throws {
        try await expect(Recordings.open("canokey-info").pinRetries(), is: PINRetries(count: 8))
    }

    @Test func verifiesU2F() async throws {
        let service = try await Recordings.open("canokey-u2f-register-authenticate")
        try await expect(service.u2fVersion(), is: "U2F_V2")
        let commands = try Recordings.capture("fido/canokey-u2f-register-authenticate").events.compactMap { event in
            if case .exchange(let command, _) = event.kind { command } else { nil as [UInt8]? }
        }
        let register = try #require(commands.first { $0.starts(with: [0, 1]) })
        let authenticate = try #require(commands.first { $0.starts(with: [0, 2, 3]) })
        let application = Array(register[37..<69])
        let made = try await service.u2fRegister(
            challengeHash: Array(register[5..<37]), applicationHash: application)
        try made.verify(challengeHash: Array(register[5..<37]), applicationHash: application)
        let object = made.attestationObject(applicationHash: application)
        try expect(AttestationObject(decoding: object.encoded), is: object)
        let challenge = Array(authenticate[5..<37])
        let signature = try await service.u2fAuthenticate(
            challengeHash: challenge, applicationHash: application, keyHandle: made.keyHandle)
        try signature.verify(challengeHash: challenge, applicationHash: application, publicKey: made.coseKey)
        #expect(throws: VerificationProblem.badSignature) {
            try signature.verify(challengeHash: application, applicationHash: application, publicKey: made.coseKey)
        }
    }

    @Test func verifiesAPackedAttestation() async throws {
        let capture = try Recordings.capture("fido/canokey-make-credential")
        var reply: [UInt8] = []
        var clientDataHash: [UInt8] = []
        for event in capture.events {
            guard case .exchange(let command, let answer) = event.kind else { continue }
            if command.starts(with: [0x80, 0x10, 0x00, 0x00, 0x80]) {
                clientDataHash = Array(command[10..<42])
                reply = Array(answer.dropLast(2))
            } else if !clientDataHash.isEmpty, command.starts(with: [0x80, 0xC0]) {
                reply += answer.dropLast(2)
            }
        }
        var command = MakeCredential(
            clientDataHash: clientDataHash, relyingParty: RelyingParty(id: "example.com"), user: FIDOUser(id: [0]))
        command.isResident = nil
        let response = try command.decode(CBOR.Fields(decoding: Array(reply.dropFirst()), "makeCredential"))
        let trust = try AttestationVerification(rpID: "example.com").check(
            response.attestationObject, clientDataHash: clientDataHash)
        if case .certificates(let chain) = trust { expect(chain.count, is: 1) } else { Issue.record("\(trust)") }
    }
}
