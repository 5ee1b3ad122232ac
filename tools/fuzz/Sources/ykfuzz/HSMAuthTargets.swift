// SPDX-License-Identifier: Apache-2.0

import Dispatch
import YKHSMAuth
import YKTransport

extension FuzzTarget {
    static let hsmAuth: [FuzzTarget] = [
        FuzzTarget(name: "hsmauth") { bytes in
            withHSMAuth(pieces(bytes)) { service in
                let label = try HSMAuthLabel("fuzz")
                _ = try? await service.credentials()
                _ = try? await service.managementKeyRetries()
                _ = try? await service.publicKey(of: label)
                _ = try? await service.challenge(label)
                _ = try? await service.sessionKeys(
                    label, hostChallenge: [UInt8](repeating: 1, count: 8),
                    hsmChallenge: [UInt8](repeating: 2, count: 8), cryptogram: [UInt8](repeating: 3, count: 8),
                    password: .defaultManagementKey())
            }
        }
    ]
}

/// Runs a service on a card that selects as firmware 5.7.4 does, and then answers with the replies.
private func withHSMAuth(
    _ replies: [[UInt8]], _ work: @escaping @Sendable (HSMAuthService) async throws -> Void
) {
    let done = DispatchSemaphore(value: 0)
    Task {
        let card = ScriptedCard([[0x79, 3, 5, 7, 4, 0x90, 0x00]] + replies)
        let channel = CardChannel(link: card, environment: ServiceEnvironment(timeout: .seconds(5)))
        if let service = try? await HSMAuthService.open(channel) { try? await work(service) }
        done.signal()
    }
    done.wait()
}
