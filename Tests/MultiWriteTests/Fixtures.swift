// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKCrypto
import YKTransport
import YKWire

/// Random bytes that never repeat, the same at each start.
final class Counting: RandomSource {
    private let counter = Atomic<UInt64>(1)
    func draw(_ count: Int, secret: Bool) -> [UInt8] {
        (0..<count).map { _ in
            let number = counter.add(1, ordering: .relaxed).newValue &* 0x9E37_79B9_7F4A_7C15
            return UInt8(truncatingIfNeeded: number >> 40)
        }
    }
}

extension ServiceEnvironment {
    /// A world in which nobody waits.
    static var instant: ServiceEnvironment {
        var environment = ServiceEnvironment(random: Counting(), timeout: .seconds(20))
        environment.pause = { _, _ in }
        return environment
    }
}

func secret(_ text: String) -> SharedSecret { SharedSecret(Secret(utf8: text)) }
func channel(_ link: sending any CardLink) -> sending CardChannel { CardChannel(link: link, environment: .instant) }
