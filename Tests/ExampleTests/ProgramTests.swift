// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCapture
import YKFIDO
import YKOATH
import YKPIV
import YKToken
import YKTransport
import YKVirtualKey
import YKWire
import YKX509

/// The programs of the article "A program of your own", line by line. This target sees what is public only.
@Suite struct ProgramTests {
    @Test func codesOfARecordedKey() async throws {
        let text = try Recording.named("oath/canokey-short")

        let replay = CaptureReplay(try Capture(parsing: text), mode: .lookup)
        let channel = CardChannel(link: replay.link(), environment: replay.replaying(ServiceEnvironment()))
        let oath = try await OATHService.open(channel)
        for entry in try await oath.codes() {
            print(entry.account.id, entry.code?.text ?? "\(entry.outcome)")
        }

        #expect(try await oath.accounts().count > 1)
    }

    @Test func aCredentialMadeAndChecked() async throws {
        let key = VirtualKey.demonstration()
        let service = try await FIDOService.open(hid: key.reportLink())
        let client = WebAuthnClient(service: service, origin: try Origin("https://example.com"))

        let alice = FIDOUser(id: [1, 2, 3, 4], name: "alice")
        let challenge = [UInt8](repeating: 7, count: 32)
        let wanted = PublicKeyCredentialCreationOptions(rpName: "Example", user: alice, challenge: challenge)
        let made = try await client.create(wanted)
        let data = try ClientData(parsing: made.clientDataJSON ?? [])
        let trust = try AttestationVerification(rpID: "example.com").check(
            made.attestationObject, clientDataHash: data.hash)
        print("credential", Base64.encodeURL(made.id), trust, data.origin, data.challenge == challenge)

        let descriptor = PublicKeyCredentialDescriptor(id: made.id)
        let request = PublicKeyCredentialRequestOptions(challenge: challenge, allowCredentials: [descriptor])
        for signed in try await client.get(request) {
            guard let publicKey = made.publicKey, let json = signed.clientDataJSON else { continue }
            try AssertionVerification(rpID: "example.com", publicKey: publicKey).check(
                signed.authenticatorData, signature: signed.signature, clientDataHash: ClientData(parsing: json).hash)
            print("signed in", signed.authenticatorData.counter)
        }

        #expect(trust == .none && made.publicKey != nil)
    }

    @Test func aCertificateOfACard() async throws {
        let text = try Recording.named("piv/yubico-piv-tool-status")

        let replay = CaptureReplay(try Capture(parsing: text), mode: .lookup)
        let channel = CardChannel(link: replay.link(), environment: replay.replaying(ServiceEnvironment()))
        let piv = try await PIVService.open(channel)
        let certificate = try await piv.certificate(.authentication)
        print(certificate.subject, "until", certificate.notAfter, Hex.encode(certificate.fingerprint))

        #expect(!certificate.subject.description.isEmpty)
    }

    @Test func aTokenInAMessage() throws {
        let bytes = try Hex.decode("d1013b55046d792e79756269636f2e636f6d2f796b2f23" + Self.otp)

        let message = try NDEFMessage(decoding: bytes)
        if let token = OTPToken(in: message), case .yubicoOTP(let otp) = token.kind {
            print("key", otp.publicID, "gave", token.value)
        }

        #expect(OTPToken(in: message)?.value == "dteffujehknhfjbrjnlnldnhcujvddbikngjrtgh")
    }

    private static let otp = Hex.encode(Array("dteffujehknhfjbrjnlnldnhcujvddbikngjrtgh".utf8))
}
