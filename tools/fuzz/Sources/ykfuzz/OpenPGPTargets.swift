// SPDX-License-Identifier: Apache-2.0

import Dispatch
import YKCrypto
import YKOpenPGP
import YKTransport

extension FuzzTarget {
    static let openPGP: [FuzzTarget] = [
        FuzzTarget(name: "openpgp") { bytes in
            withOpenPGP(pieces(bytes)) { service in
                _ = try? await service.status()
                _ = try? await service.report()
                _ = try? await service.signatureCount()
                _ = try? await service.kdf()
            }
        },
        FuzzTarget(name: "openpgp-keys") { bytes in
            withOpenPGP(pieces(bytes)) { service in
                for slot in OpenPGPSlot.allCases {
                    _ = try? await service.keyTypes(for: slot)
                    _ = try? await service.publicKey(slot)
                    _ = try? await service.certificate(slot)
                }
            }
        },
        FuzzTarget(name: "openpgp-use") { bytes in
            withOpenPGP(pieces(bytes)) { service in
                try? await service.verify(Secret(utf8: "123456"), for: .signing)
                _ = try? await service.sign(.message(bytes))
                _ = try? await service.decrypt(bytes)
                _ = try? await service.derive(with: .x25519([UInt8](repeating: 9, count: 32)))
                _ = try? await service.generateKey(.signature, .ed25519)
                _ = try? await service.random(8)
            }
        },
    ]
}

/// Runs a service on a card that selects, and then answers with the replies.
private func withOpenPGP(
    _ replies: [[UInt8]], _ work: @escaping @Sendable (OpenPGPService) async throws -> Void
) {
    let done = DispatchSemaphore(value: 0)
    Task {
        let card = ScriptedCard([[0x90, 0x00]] + replies)
        let channel = CardChannel(link: card, environment: ServiceEnvironment(timeout: .seconds(5)))
        if let service = try? await OpenPGPService.open(channel) { try? await work(service) }
        done.signal()
    }
    done.wait()
}
