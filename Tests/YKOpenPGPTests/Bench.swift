// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKCrypto
import YKOpenPGP
import YKTransport
import YKVirtualKey
import YKWire

/// Virtual keys and cards to test against, and published vectors.
enum Bench {
    static func open(
        _ version: FirmwareVersion = FirmwareVersion(5, 7, 4), model: DeviceModel = .yubiKey,
        inputs: VirtualInputs = VirtualInputs()
    ) async throws -> OpenPGPService {
        try await open(try key(version, model: model, inputs: inputs))
    }

    static func key(
        _ version: FirmwareVersion = FirmwareVersion(5, 7, 4), model: DeviceModel = .yubiKey,
        inputs: VirtualInputs = VirtualInputs()
    ) throws -> VirtualKey {
        var profile = DeviceProfile(model: model, serial: 1)
        if model == .yubiKey { profile.version = version }
        return VirtualKey(try .new(profile, random: SystemRandom()), inputs: inputs)
    }

    static func open(_ key: VirtualKey) async throws -> OpenPGPService {
        try await OpenPGPService.open(
            CardChannel(link: key.link(), environment: ServiceEnvironment(clock: FixedClock(1_577_836_800))))
    }

    /// The cases of a vector.
    static func cases(_ id: String) throws -> [[String: Any]] {
        try #require(try vector(id)["cases"] as? [[String: Any]])
    }

    /// A vector by its identifier.
    static func vector(_ id: String) throws -> [String: Any] {
        let url = try #require(Bundle.module.url(forResource: "vectors/openpgp", withExtension: "json"))
        let file = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: url)) as? [String: Any])
        let vectors = try #require(file["vectors"] as? [[String: Any]])
        return try #require(vectors.first { $0["id"] as? String == id })
    }

    static let user = "123456"
    static let admin = "12345678"
}

extension OpenPGPService {
    /// Verifies the PINs of a new card.
    func verifyUsual(_ access: OpenPGPAccess...) async throws {
        for access in access {
            try self.verify(Secret(utf8: access == .administration ? Bench.admin : Bench.user), for: access)
        }
    }
}
