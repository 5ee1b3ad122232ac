// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKCrypto
import YKFIDO
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// A key whose answers are those of a virtual key, one of them changed.
final class ChangedLink: FIDOLink {
    private let link: CardFIDOLink
    private let place: Int
    private let change: ([UInt8]) -> [UInt8]
    private(set) var messages = 0
    let environment: ServiceEnvironment
    let generation = 0
    var profile: FIDOLinkProfile { link.profile }

    init(_ key: VirtualKey, place: Int, _ change: @escaping @Sendable ([UInt8]) -> [UInt8]) throws(FIDOLinkError) {
        environment = .instant
        link = try CardFIDOLink(CardChannel(link: key.link(), environment: environment))
        self.place = place
        self.change = change
    }

    func call(
        _ command: CTAPHID.Command, _ payload: [UInt8], deadline: Deadline, keepalive: (FIDOKeepalive) -> Void
    ) throws(FIDOLinkError) -> [UInt8] {
        let reply = try link.call(command, payload, deadline: deadline, keepalive: keepalive)
        messages += 1
        return messages == place + 1 ? change(reply) : reply
    }

    func rest() {}
    func close() {}
}

/// Every answer of whole sessions, changed in many ways: a typed error or an answer, never a trap, and no PIN try is
/// spent when the answers before the PIN are not to be believed.
struct ChangedSessionTests {
    private static let pin = "12345"

    private static func key() async throws -> VirtualKey {
        let bench = try Bench(pin: pin)
        let service = try await bench.open()
        try await service.setPIN(secret(pin))
        for user: UInt8 in [1, 2] {
            var request = registration(user: user)
            request.isResident = true
            request.extensions.createsLargeBlobKey = user == 1
            _ = try await service.register(request)
        }
        return bench.key
    }

    /// One session with many kinds of commands; what fails, fails.
    private static func doEverything(_ link: sending ChangedLink) async {
        let interaction = FIDOInteraction(pin: { _ in secret(pin) })
        guard let service = try? await FIDOService.open(link, interaction: interaction) else { return }
        _ = try? await service.pinRetries()
        var request = AssertionRequest(rpID: "example.com", clientDataHash: hash)
        request.extensions.salts = HMACSecretSalts(prf: [1])
        _ = try? await service.assert(request)
        if let party = try? await service.relyingParties().first { _ = try? await service.credentials(of: party) }
        _ = try? await service.largeBlobUsage()
        var made = try? await service.register(registration(user: 3))
        if let object = made?.response.attestationObject {
            _ = try? AttestationVerification(rpID: "example.com").check(object, clientDataHash: hash)
        }
        made = nil
        if let u2f = try? await service.u2fRegister(challengeHash: hash, applicationHash: hash) {
            try? u2f.verify(challengeHash: hash, applicationHash: hash)
            _ = try? await service.u2fAuthenticate(
                challengeHash: hash, applicationHash: hash, keyHandle: u2f.keyHandle)
        }
    }

    /// How many messages ``doEverything(_:)`` sends.
    private static let length = 24

    @Test(arguments: 0..<length)
    func survives(_ place: Int) async throws {
        let state = try await Self.key().state
        for (number, position) in stride(from: 0, to: 700, by: place == 0 ? 3 : 11).enumerated() {
            let isBeyond = Mutex(false)
            for value in Variations.made(of: [nil, 0xFF, 0x5F] as [UInt8?], at: place + number) {
                let key = VirtualKey(state)
                await Self.doEverything(
                    try ChangedLink(key, place: place) { reply in
                        guard position < reply.count else {
                            isBeyond.withLock { $0 = true }
                            return reply
                        }
                        guard let value else { return Array(reply.prefix(position)) }
                        var reply = reply
                        reply[position] = value
                        return reply
                    })
            }
            if isBeyond.withLock({ $0 }) { break }
        }
    }

    @Test func spendsNoTryOnABadAgreementKey() async throws {
        let state = try await Self.key().state
        let changes: [@Sendable ([UInt8]) -> [UInt8]] = [
            { Array($0.dropLast()) + [($0.last ?? 0) ^ 1] }, { Array($0.prefix(20)) }, { _ in [0x00] },
            { _ in [0x00, 0xA1, 0x01, 0xA0] },
        ]
        for change in changes {
            let key = VirtualKey(state)
            let link = try ChangedLink(key, place: 2, change)
            let service = try await FIDOService.open(link, interaction: FIDOInteraction(pin: { _ in secret(Self.pin) }))
            await #expect(throws: FIDOError.self) {
                try await service.assert(AssertionRequest(rpID: "example.com", clientDataHash: hash))
            }
            try await expect(service.pinRetries(), is: PINRetries(count: 8))
        }
    }
}
