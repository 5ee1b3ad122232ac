// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import YKVirtualKey

/// The finger that touches a served key.
final class Finger: Sendable {
    private let choice: VirtualServe.TouchChoice
    private let terminal: Terminal
    private let isAsking = Mutex(false)

    init(_ choice: VirtualServe.TouchChoice, _ terminal: Terminal) {
        self.choice = choice
        self.terminal = terminal
    }

    /// Whether the key is touched now; asks once, and looks for Enter on standard input without waiting for it.
    @Sendable func touch(_ account: [UInt8]) -> VirtualWorld.Touch {
        switch choice {
        case .yes: .touched
        case .no: .notTouched
        case .ask: ask(String(decoding: account, as: UTF8.self).printable)
        }
    }

    private func ask(_ account: String) -> VirtualWorld.Touch {
        isAsking.withLock { isAsking in
            if !isAsking { terminal.say("'\(account)' wants a touch: press Enter") }
            isAsking = true
            guard Self.readLine() else { return .pending }
            isAsking = false
            return .touched
        }
    }

    private static func readLine() -> Bool {
        var input = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
        guard poll(&input, 1, 0) > 0 else { return false }
        var buffer = [UInt8](repeating: 0, count: 256)
        return read(0, &buffer, buffer.count) > 0
    }
}
