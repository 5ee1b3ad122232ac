// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKFIDO
import YKTestSupport
import YKTransport
import YKVirtualKey

@testable import YKSecrets

/// Virtual keys and cards to test against.
enum Bench {
    /// How the application is reached.
    enum Route: CaseIterable { case card, hid }

    static func key(_ inputs: VirtualInputs = VirtualInputs()) throws -> VirtualKey {
        try VirtualKey.new(.nitrokey3, serial: 0x0102_0304, inputs: inputs)
    }

    static func open(
        _ key: VirtualKey? = nil, over route: Route = .card, inputs: ServiceEnvironment = .instant
    ) async throws -> SecretsService {
        let key = try key ?? Self.key()
        switch route {
        case .card: return try await SecretsService.open(CardChannel(link: key.link(), environment: inputs))
        case .hid:
            let link = try HIDFIDOLink(key.reportLink(), environment: inputs)
            return try await SecretsService.open(SecretsTunnel.channel(over: link))
        }
    }

    static func open(_ link: sending ScriptedLink) async throws -> SecretsService {
        try await SecretsService.open(CardChannel(link: link, environment: .instant))
    }
}

/// A name that is good.
func name(_ text: String) -> SecretsName { (try? SecretsName(text)) ?? .init(bytes: []) }

/// The secret of the test vectors in RFC 4226.
let vectorSecret = secret("12345678901234567890")

extension SharedSecret {
    /// The secret as text.
    var text: String { value.withBytes { String(decoding: $0, as: UTF8.self) } }
}
