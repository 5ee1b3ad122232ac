// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKCapture
import YKCrypto
import YKOATH
import YKProtocols
import YKTestSupport
import YKTransport
import YKWire

/// Every reply of every OATH recording, cut at every length and with every byte (so every length byte) at its most:
/// a typed error or an answer, never a trap, never a hang.
struct HostileReplyTests {
    /// Answers each command with the recorded replies to its instruction in order, then with 6D00.
    private static func link(_ capture: Capture, changing place: Int, _ change: ([UInt8]) -> [UInt8]) -> ScriptedLink {
        var replies: [UInt8: [[UInt8]]] = [:]
        for (index, event) in capture.events.enumerated() {
            guard case .exchange(let command, let reply) = event.kind, command.count > 3 else { continue }
            let key = command[1] == 0xA4 && command[2] == 4 ? 0 : command[1]
            if key == 0, !AID.oath.matches((try? APDU(decoding: command))?.data ?? []) { continue }
            replies[key, default: []].append(index == place ? change(reply) : reply)
        }
        let left = Mutex(replies)
        return ScriptedLink(atr: capture.header.atr ?? []) { command in
            let key = command[1] == 0xA4 && command[2] == 4 ? 0 : command[1]
            return left.withLock { left in
                guard let reply = left[key]?.first else { return [0x6D, 0x00] }
                left[key]?.removeFirst()
                return reply
            }
        }
    }

    private static let password = Array<UInt8>([
        0x6e, 0x9b, 0x7c, 0xac, 0x31, 0x9d, 0x61, 0xf2, 0xcb, 0x5a, 0x47, 0x11, 0x28, 0x6c, 0x1f, 0xbe,
    ])

    private static func doEverything(_ link: sending ScriptedLink, _ environment: ServiceEnvironment) async {
        do throws(OATHError) {
            let service = try await OATHService.open(CardChannel(link: link, environment: environment))
            _ = try? await service.unlock(with: AccessKey(rawKey: Secret(password)))
            let accounts = (try? await service.accounts()) ?? []
            _ = try? await service.codes()
            for account in accounts.suffix(2) { _ = try? await service.code(for: account.id) }
            _ = try? await service.setAccessKey(AccessKey(rawKey: Secret(password)))
        } catch {}
    }

    @Test(arguments: Recordings.oath)
    func survives(_ name: String) async throws {
        let capture = try Recordings.capture("oath/\(name)")
        let environment = CaptureReplay(capture, mode: .lookup).replaying(environment())
        for (place, event) in capture.events.enumerated() {
            guard case .exchange(_, let reply) = event.kind else { continue }
            for position in reply.indices {
                for value in Variations.made(of: [nil, 0xFF, 0x7F, 0x84] as [UInt8?], at: place + position) {
                    await Self.doEverything(
                        Self.link(capture, changing: place) { reply in
                            guard let value else { return Array(reply.prefix(position)) }
                            var reply = reply
                            reply[position] = value
                            return reply
                        }, environment)
                }
            }
        }
    }
}
