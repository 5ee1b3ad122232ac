// SPDX-License-Identifier: Apache-2.0

import Dispatch
import YKSecrets
import YKTransport

extension FuzzTarget {
    static let secrets: [FuzzTarget] = [
        FuzzTarget(name: "secrets") { bytes in
            withSecrets(pieces(bytes)) { service in
                let name = try SecretsName("fuzz")
                _ = try? await service.entries()
                _ = try? await service.content(of: name)
                _ = try? await service.nextCode(of: name)
                try? await service.verify("123456", of: name)
                try? await service.update(name, SecretsChange(record: SecretsRecord(login: "x")))
                try? await service.reset()
            }
        }
    ]
}

/// Runs a service on a card in the reader of a Nitrokey that gives the replies, the first of them to SELECT.
private func withSecrets(
    _ replies: [[UInt8]], _ work: @escaping @Sendable (SecretsService) async throws -> Void
) {
    let done = DispatchSemaphore(value: 0)
    Task {
        let card = ScriptedCard([[0x79, 3, 4, 14, 0, 0x8F, 4, 0, 0, 0, 1, 0x90, 0x00]] + replies)
        let channel = CardChannel(link: card, environment: ServiceEnvironment(timeout: .seconds(5)))
        if let service = try? await SecretsService.open(channel) { try? await work(service) }
        done.signal()
    }
    done.wait()
}
