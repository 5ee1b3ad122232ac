// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKHSMAuth
import YKTestSupport
import YKTransport
import YKVirtualKey

/// Virtual keys and cards to test against.
enum Bench {
    static func open(
        _ version: FirmwareVersion = FirmwareVersion(5, 7, 4), inputs: VirtualInputs = VirtualInputs()
    ) async throws -> HSMAuthService {
        let key = try VirtualKey.new(version, random: CountingRandom(), inputs: inputs)
        return try await HSMAuthService.open(CardChannel(link: key.link(), environment: Self.inputs))
    }

    static func open(_ link: sending ScriptedLink) async throws -> HSMAuthService {
        try await HSMAuthService.open(CardChannel(link: link, environment: inputs))
    }

    static func password(_ text: String) throws -> HSMAuthPassword { try HSMAuthPassword(Secret(utf8: text)) }

    static var inputs: ServiceEnvironment { ServiceEnvironment(random: CountingRandom(), timeout: .seconds(5)) }
}
