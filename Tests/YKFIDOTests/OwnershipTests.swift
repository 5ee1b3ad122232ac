// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKFIDO
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// Whether a credential is a key's own, and which key is which.
struct OwnershipTests {
    private let touched = VirtualInputs(touch: { _ in .touched })

    @Test func findsItsOwnCredentials() async throws {
        let bench = try Bench(pin: "123456", inputs: touched)
        let service = try await bench.open()
        let made = try await service.register(registration())
        let id = try #require(made.response.authenticatorData.credential?.id)
        #expect(try await service.owns(id, rpID: "example.com"))
        #expect(try await !service.owns(id, rpID: "example.org"))
        #expect(try await !service.owns([1, 2, 3], rpID: "example.com"))
        #expect(try await !service.owns([UInt8](repeating: 1, count: 2000), rpID: "example.com"))
        let other = try await Bench(inputs: touched).open()
        #expect(try await !other.owns(id, rpID: "example.com"))
        #expect(bench.pins.requests.isEmpty, "no PIN was asked for")
    }

    @Test("a credential that requires user verification for each use is not reported")
    func protected() async throws {
        let service = try await Bench(pin: "123456", inputs: touched).open()
        try await service.setPIN(secret("123456"))
        var request = registration()
        request.extensions.protection = .required
        let id = try #require(try await service.register(request).response.authenticatorData.credential?.id)
        #expect(try await !service.owns(id, rpID: "example.com"))
    }

    @Test func ofU2F() async throws {
        let key = try VirtualKey.new(.neo, inputs: touched)
        let service = try await Bench(key: key, pins: Bench.PINs(nil)).open()
        let application = HashAlgorithm.sha256.hash("pam://host".utf8)
        let made = try await service.u2fRegister(challengeHash: hash, applicationHash: application)
        #expect(try await service.owns(made.keyHandle, rpID: "pam://host"))
        #expect(try await !service.owns(made.keyHandle, rpID: "pam://other"))
        #expect(try await !service.owns([UInt8](repeating: 1, count: 256), rpID: "pam://host"))
    }

    @Test func blinks() async throws {
        let card = try await Bench(inputs: touched).open()
        await #expect(throws: FIDOError.ctap(.link(.notCarried(.wink)))) { try await card.wink() }
        let bench = try Bench(inputs: touched)
        try await FIDOService.open(hid: bench.key.reportLink(), environment: .instant).wink()
    }
}
