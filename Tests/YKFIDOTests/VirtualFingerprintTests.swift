// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKFIDO
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// The virtual key's fingerprints, through the service.
struct VirtualFingerprintTests {
    private func bench(
        _ version: FIDOFeatures.Version = .v21, onlyFingers: Bool = false, inputs: VirtualInputs = VirtualInputs()
    ) throws -> Bench {
        var profile = DeviceProfile(serial: 1)
        profile.fido = FIDOFeatures(
            version: version, hasFingerprints: true, needsFingerprintForCeremonies: onlyFingers)
        return Bench(key: VirtualKey(try .new(profile), inputs: inputs), pins: Bench.PINs("12345"))
    }

    /// A service whose key has a PIN and one fingerprint.
    private func enrolled(_ bench: Bench) async throws -> FIDOService {
        let service = try await bench.open()
        try await service.setPIN(secret("12345"))
        var sample = try await service.beginEnrollment()
        var count = 1
        while sample.remaining > 0, count < 20 {
            sample = try await service.nextSample(of: sample.template)
            count += 1
        }
        expect(sample.remaining, is: 0)
        return service
    }

    @Test("a finger is enrolled, named and removed", arguments: [FIDOFeatures.Version.v21Pre, .v21, .v23])
    func enrolment(_ version: FIDOFeatures.Version) async throws {
        let qualities = Mutex<[UInt8]>([5, 0, 1])
        var inputs = VirtualInputs()
        inputs.sample = { _ in qualities.withLock { $0.popLast() ?? 0 } }
        let bench = try bench(version, inputs: inputs)
        let service = try await enrolled(bench)
        let sensor = try await service.fingerprintSensor()
        #expect(sensor.samplesNeeded == 4 && !sensor.isSwiped && sensor.maxNameLength == 15)
        let known = try await service.fingerprints()
        expect(known.map(\.name), is: [""])
        let template = try #require(known.first?.template)
        try await service.renameFingerprint(template, to: "thumb")
        try await expect(service.fingerprints().map(\.name), is: ["thumb"])
        let info = try await service.freshInfo()
        expect(info.map[4]?.map?["uv"], is: true)
        _ = try await service.beginEnrollment()
        try await service.cancelEnrollment()
        try await service.removeFingerprint(template)
        await #expect(throws: FIDOError.self) { try await service.removeFingerprint(template) }
        try await expect(service.freshInfo().map[4]?.map?["uv"], is: false)
    }

    @Test("what makes no sense is refused, and the memory is full in the end")
    func limits() async throws {
        let bench = try bench()
        let service = try await enrolled(bench)
        await #expect(throws: FIDOError.self) { try await service.nextSample(of: [9, 9, 9, 9]) }
        let template = try #require(try await service.fingerprints().first?.template)
        await #expect(throws: FIDOError.self) {
            try await service.renameFingerprint(template, to: "a name of far too many bytes")
        }
        try await expect(service.exchange(raw: [0x09, 0xA1, 0x06, 0xF5]), is: [0, 0xA1, 0x01, 0x01])
        await #expect(throws: FIDOError.self) { try await service.exchange(raw: [0x09, 0xA0]) }
        await #expect(throws: FIDOError.self) {
            try await service.exchange(raw: [0x09, 0xA2, 0x01, 0x01, 0x02, 0x18, 0x77])
        }
        await #expect(throws: FIDOError.self) { try await service.exchange(raw: [0x09, 0xA2, 0x01, 0x02, 0x02, 0x04]) }
        await #expect(throws: FIDOError.self) { try await service.exchange(raw: [0x09, 0xA1, 0x02, 0x04]) }
        await #expect(throws: FIDOError.self) { try await service.exchange(raw: [0x09, 0xA2, 0x01, 0x01, 0x02, 0x04]) }
        for _ in 0..<4 {
            let sample = try await service.beginEnrollment()
            for _ in 0..<3 { _ = try await service.nextSample(of: sample.template) }
        }
        try await expect(service.fingerprints().count, is: 5)
        await #expect(throws: FIDOError.self) { try await service.beginEnrollment() }
    }

    @Test("a finger verifies the user; a wrong one leads to the PIN in the end")
    func verification() async throws {
        let answers = Mutex<[VirtualInputs.Verification]>([])
        var inputs = VirtualInputs()
        inputs.verify = { answers.withLock { $0.popLast() ?? .verified } }
        let bench = try bench(inputs: inputs)
        let service = try await enrolled(bench)
        try await expect(service.uvRetries(), is: 3)
        let asked = bench.pins.requests.count
        var request = registration()
        request.userVerification = .required
        let made = try await service.register(request)
        #expect(made.response.authenticatorData.flags.contains(.userVerified))
        expect(bench.pins.requests.count, is: asked)
        await service.forgetToken()
        answers.withLock { $0 = [.wrong, .wrong, .wrong, .wrong] }
        let fallback = try await service.register(request)
        #expect(fallback.response.authenticatorData.flags.contains(.userVerified))
        expect(bench.pins.requests.count, is: asked + 1)
        #expect(bench.pins.requests.last?.fallback != nil)
        try await expect(service.uvRetries(), is: 3)
    }

    @Test("always verified: a finger is asked for without a proof")
    func always() async throws {
        let bench = try bench()
        let service = try await enrolled(bench)
        try await service.configure(.toggleAlwaysUV)
        let made = try await service.register(registration())
        #expect(made.response.authenticatorData.flags.contains(.userVerified))
        try await expect(service.freshInfo().option(.alwaysUv), is: true)
    }

    @Test("a PIN is not enough where the key says so")
    func onlyFingers() async throws {
        let bench = try bench(onlyFingers: true)
        let service = try await enrolled(bench)
        try await expect(service.freshInfo().map[4]?.map?["noMcGaPermissionsWithClientPin"], is: true)
        var request = registration()
        request.userVerification = .required
        let asked = bench.pins.requests.count
        let made = try await service.register(request)
        #expect(made.response.authenticatorData.flags.contains(.userVerified))
        expect(bench.pins.requests.count, is: asked)
    }

    @Test("nor is it asked for there when the finger is not known")
    func noPINWhereItIsNotEnough() async throws {
        let answers = Mutex<[VirtualInputs.Verification]>([])
        var inputs = VirtualInputs()
        inputs.verify = { answers.withLock { $0.popLast() ?? .verified } }
        let bench = try bench(onlyFingers: true, inputs: inputs)
        let service = try await enrolled(bench)
        let asked = bench.pins.requests.count
        answers.withLock { $0 = [.wrong] }
        await #expect(throws: FIDOError.userNotRecognised) { try await service.register(registration()) }
        expect(bench.pins.requests.count, is: asked)
    }

    @Test("a key that verifies in the command itself: after a wrong finger the PIN does")
    func fallbackInTheCommand() async throws {
        let answers = Mutex<[VirtualInputs.Verification]>([])
        var inputs = VirtualInputs()
        inputs.verify = { answers.withLock { $0.popLast() ?? .verified } }
        let bench = try bench(.v21Pre, inputs: inputs)
        let service = try await enrolled(bench)
        var request = registration()
        request.isResident = true
        let asked = bench.pins.requests.count
        #expect(try await service.register(request).response.authenticatorData.flags.contains(.userVerified))
        expect(bench.pins.requests.count, is: asked)
        answers.withLock { $0 = [.wrong] }
        await service.forgetToken()
        #expect(try await service.register(request).response.authenticatorData.flags.contains(.userVerified))
        #expect(bench.pins.requests.last?.fallback == .notRecognised && bench.pins.requests.count == asked + 1)
        await service.forgetToken()
        answers.withLock { $0 = [.wrong] }
        let signed = try await service.assert(AssertionRequest(rpID: "example.com", clientDataHash: hash))
        expect(signed.first?.response.authenticatorData.flags.contains(.userVerified), is: true)
        expect(bench.pins.requests.count, is: asked + 2)
    }
}
