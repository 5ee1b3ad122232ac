// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCapture
import YKCrypto
import YKFIDO
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// Recordings that other tools made answer ykit when it asks for the same thing.
struct LookupTests {
    /// The parameters of the only makeCredential or getAssertion of a card's recording.
    private func parameters(_ name: String, _ command: UInt8) throws -> CBOR.Map {
        for event in try Recordings.capture("fido/\(name)").events {
            guard case .exchange(let bytes, _) = event.kind, let apdu = try? APDU(decoding: bytes) else { continue }
            if apdu.ins == 0x10, apdu.data.first == command {
                return try #require(try CBOR(decoding: Array(apdu.data.dropFirst())).map)
            }
        }
        throw WireError(.truncated, at: 0, "no such command")
    }

    @Test func aCredentialAsRecorded() async throws {
        let asked = try parameters("canokey-make-credential", 0x01)
        let user = try #require(asked[3]?.map)
        var request = RegistrationRequest(
            clientDataHash: try #require(asked[1]?.bytes), relyingParty: RelyingParty(id: "example.com"),
            user: FIDOUser(id: try #require(user["id"]?.bytes), name: user["name"]?.text))
        request.algorithms = [.es256]
        request.userVerification = .discouraged
        let made = try await Recordings.open("canokey-make-credential").register(request)
        let trust = try AttestationVerification(rpID: "example.com").check(
            made.response.attestationObject, clientDataHash: request.clientDataHash)
        if case .certificates(let chain) = trust { expect(chain.count, is: 1) } else { Issue.record("\(trust)") }
    }

    @Test func anAssertionAsRecorded() async throws {
        let asked = try parameters("canokey-assert", 0x02)
        let id = try #require(asked[3]?.array?.first?.map?["id"]?.bytes)
        var request = AssertionRequest(rpID: "example.com", clientDataHash: try #require(asked[2]?.bytes))
        request.allowList = [CredentialDescriptor(id: id)]
        request.userVerification = .discouraged
        let service = try await Recordings.open("canokey-assert")
        let assertion = try #require(try await service.assert(request).first)
        #expect(assertion.response.credential?.id == id && assertion.response.signature.count > 60)
        #expect(await service.profile.hasU2F)
    }

    /// Real logs: fido2-cred 1.12 and python-fido2 2.2.1, with the virtual key behind /dev/hidraw0.
    @Test(arguments: [
        ("libfido2-cred.log", CaptureImport.Format.libfido2, RelyingParty(id: "example.com"), nil as [UInt8]?),
        (
            "python-fido2.log", .pythonFIDO2, RelyingParty(id: "example.com", name: "Example"),
            HashAlgorithm.sha256.hash(Array("client data".utf8))
        ),
    ])
    func logsOfOtherTools(
        name: String, format: CaptureImport.Format, party: RelyingParty, clientDataHash: [UInt8]?
    ) async throws {
        let capture = try Capture(importing: Recordings.fixture(name), from: format)
        #expect(capture.header.link == .hid && capture.check().filter(\.isError).isEmpty)
        let service = try await FIDOService.open(
            hid: CaptureReplay(capture, mode: .lookup).reportLink(), environment: .instant)
        await expect(service.profile.deviceVersion, is: FirmwareVersion(5, 7, 1))
        let hash = clientDataHash ?? Array("client data hash 32 bytes long!!".utf8)
        var request = RegistrationRequest(
            clientDataHash: hash, relyingParty: party,
            user: FIDOUser(id: Array("user-0001".utf8), name: "alice"))
        request.algorithms = [.es256]
        let made = try await service.register(request)
        _ = try AttestationVerification(rpID: "example.com").check(
            made.response.attestationObject, clientDataHash: hash)
    }

    /// Packets of a real usbmon: fido2-token -I and fido2-assert -G of libfido2 1.12 on the virtual key over USB/IP,
    /// which is then pulled out; tcpdump wrote them in a guest with Linux 6.1.
    @Test func packetsOfUSBMon() async throws {
        let capture = try Capture(importing: Recordings.fixture("fido2-tools-usbmon.pcap"), from: .usbmon)
        #expect(capture.header.device == "1050:0407" && capture.check().filter(\.isError).isEmpty)
        expect(capture.events.last?.kind, is: .link(.removed, why: nil))
        let replay = CaptureReplay(capture, mode: .lookup)
        let service = try await FIDOService.open(hid: replay.reportLink(), environment: .instant)
        await expect(service.profile.deviceVersion, is: FirmwareVersion(5, 7, 1))
        try await expect(service.info().versions, is: [.u2fV2, .fido20, .fido21])
        let clientDataHash = try Base64.decode("Ni1VkaHuvbj2fXqrQE3+MQ4TgEJxUa/yIXDeWbv4AoY=")
        let id = try Base64.decode(
            "AQHZWi0U9h1F++cS6mmsox1L9s997sOpg8cdEuZFzaG2iAf+gj+yzOqN0kdN1bgw3uVsPjBx0Gl2a2dBcCxzV6pV")
        var request = AssertionRequest(rpID: "example.com", clientDataHash: clientDataHash)
        request.allowList = [CredentialDescriptor(id: id)]
        let signed = try #require(try await service.assert(request).first?.response)
        let point = try Base64.decode(
            "ugnkJuzgO6CedbEa366qGZzWP0DVRAxTQipfNykE3E/BTYqkKijHe8rY2B9etA7of90OqVl0ywehZG3WqoMIKw==")
        let check = AssertionVerification(
            rpID: "example.com",
            publicKey: COSEKey(ec2: .p256, algorithm: .es256, x: Array(point.prefix(32)), y: Array(point.suffix(32))))
        try check.check(signed.authenticatorData, signature: signed.signature, clientDataHash: clientDataHash)
        #expect(throws: VerificationProblem.badSignature) {
            try check.check(signed.authenticatorData, signature: signed.signature, clientDataHash: hash)
        }
    }

    /// A session on HID, recorded; then asked again with other nonces, on other channels.
    @Test func messagesOverHID() async throws {
        let recorded = try await HIDSession.record()
        let replay = CaptureReplay(recorded.capture, mode: .lookup)
        let service = try await FIDOService.open(hid: replay.reportLink(), environment: .instant)
        let made = try await service.register(registration())
        expect(made.response.attestationObject, is: recorded.made)
        try await expect(service.u2fVersion(), is: "U2F_V2")
        await #expect(throws: FIDOError.self) { try await service.register(registration()) }
        try replay.finish()
    }

    /// INIT is answered even where the recording began after it.
    @Test func withoutINIT() async throws {
        var capture = try await HIDSession.record().capture
        let isINIT = { (report: [UInt8]) in report[4] == 0x86 }
        capture.events.removeAll { event in
            switch event.kind {
            case .written(let report), .delivered(let report): isINIT(report)
            default: false
            }
        }
        let service = try await FIDOService.open(
            hid: CaptureReplay(capture, mode: .lookup).reportLink(), environment: .instant)
        #expect(try await service.info().speaks(.fido21))
    }

    /// What differs is told in words, without what is secret in it.
    @Test func anUnknownMessageIsTold() async throws {
        let replay = CaptureReplay(try await HIDSession.record().capture, mode: .lookup)
        let service = try await FIDOService.open(hid: replay.reportLink(), environment: .instant)
        let error = await #expect(throws: FIDOError.self) { try await service.setPIN(secret("12345")) }
        guard case .ctap(.link(.device(.replay(let mismatch)))) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        expect(mismatch.actualWords?.hasPrefix("CTAP clientPIN"), is: true)
    }
}

/// A short session on the virtual key's HID interface.
enum HIDSession {
    static func record() async throws -> (capture: Capture, made: AttestationObject) {
        let file = RecordingFile("lookup")
        let recorder = Recorder(path: file.path)
        let service = try await FIDOService.open(
            hid: recorder.recording(try Bench().key.reportLink()), environment: recorder.recording(.instant))
        let made = try await service.register(registration())
        _ = try await service.u2fVersion()
        return (try file.capture(), made.response.attestationObject)
    }
}
