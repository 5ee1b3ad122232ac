// SPDX-License-Identifier: Apache-2.0

import Dispatch
import YKCrypto
import YKSecureChannel
import YKSecurityDomain
import YKTransport
import YKWire
import YKX509

extension FuzzTarget {
    static let secureChannel: [FuzzTarget] = [
        FuzzTarget(name: "scp-certificate") { bytes in
            let host = [UInt8](repeating: 7, count: 32)
            _ = try? SCP11HostKey(
                privateKey: SharedSecret(Secret(host)), certificates: [bytes],
                authority: SCPKeyReference(id: 0x10, version: 0))
            for der in (try? X509Certificate.split(bytes)) ?? [] {
                if let certificate = try? X509Certificate(der: der) { decode(certificate) }
            }
        },
        FuzzTarget(name: "scp-handshake") { bytes in
            let replies = pieces(bytes)
            let credentials: [SecureChannelCredential] = [.scp03(.factory), .scp11(.b, trust: .unverified)]
            for credential in credentials {
                let environment = ServiceEnvironment(timeout: .seconds(5))
                let channel = CardChannel(
                    link: ScriptedCard([[0x90, 0x00]] + replies), environment: environment)
                channel.protect(with: SecureChannel(credential, environment: environment))
                _ = try? channel.select(.piv)
                _ = try? channel.transmit(APDU(ins: 0xFD))
            }
        },
        FuzzTarget(name: "security-domain") { bytes in
            withSecurityDomain(pieces(bytes)) { service in
                let key = SCPKeyReference(id: 0x13, version: 1)
                _ = try? await service.keys()
                _ = try? await service.protocols()
                _ = try? await service.authorities(ofCard: false)
                _ = try? await service.certificates(of: key)
                _ = try? await service.generate(key)
                _ = try? await service.reset()
            }
        },
    ]
}

/// Runs a service on a card that selects, and then answers with the replies; nothing that changes keys is kept back.
private func withSecurityDomain(
    _ replies: [[UInt8]], _ work: @escaping @Sendable (SecurityDomainService) async throws -> Void
) {
    let done = DispatchSemaphore(value: 0)
    Task {
        let card = ScriptedCard([[0x90, 0x00]] + replies)
        let channel = CardChannel(link: card, environment: ServiceEnvironment(timeout: .seconds(5)))
        if let service = try? await SecurityDomainService.open(channel) { try? await work(service) }
        done.signal()
    }
    done.wait()
}
