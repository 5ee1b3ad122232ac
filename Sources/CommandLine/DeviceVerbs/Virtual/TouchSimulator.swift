// SPDX-License-Identifier: Apache-2.0

import Arguments
import Glibc
import Synchronization
import TerminalIO
import YKVirtualKey

/// How a served key is touched.
enum TouchChoice: Hashable, ExpressibleByArgument {
    /// Immediately.
    case yes
    /// Never; the key times out immediately.
    case no
    /// Never; the key times out as usual.
    case never
    /// By the user at the terminal, with Enter.
    case ask
    /// By SIGUSR1.
    case signal
    /// This long after the key began to wait.
    case after(Duration)

    init?(argument: String) {
        switch argument {
        case "yes": self = .yes
        case "no": self = .no
        case "never": self = .never
        case "ask": self = .ask
        case "signal": self = .signal
        default:
            guard let time = Self.time(argument) else { return nil }
            self = .after(time)
        }
    }

    /// Parses seconds, or a number followed by `ms` or `s`.
    private static func time(_ text: String) -> Duration? {
        if text.hasSuffix("ms"), let number = Int32(text.dropLast(2)), number >= 0 { return .milliseconds(number) }
        let seconds = text.hasSuffix("s") ? String(text.dropLast()) : text
        guard let number = Double(seconds), number >= 0, number < 1e6 else { return nil }
        return .seconds(number)
    }
}

/// The user who touches a served key.
final class TouchSimulator: Sendable {
    private let choice: TouchChoice
    private let terminal: Terminal
    private let wait = Mutex<Wait?>(nil)

    /// The number of SIGUSR1 signals received.
    private static let signals = Atomic<Int>(0)
    /// The number of SIGUSR2 signals received.
    private static let longSignals = Atomic<Int>(0)
    /// The number of signals already used for a typed slot or a touch.
    private let consumed = Mutex<(short: Int, long: Int)>((0, 0))

    /// A touch that the key waits for.
    private struct Wait {
        let began: ContinuousClock.Instant
        var asked: ContinuousClock.Instant
        let signals: Int
    }

    init(_ choice: TouchChoice, _ terminal: Terminal) {
        self.choice = choice
        self.terminal = terminal
        if choice == .signal { Self.listen() }
    }

    /// Whether the key is touched now; returns immediately.
    @Sendable func touch(_ account: [UInt8]) -> VirtualInputs.Touch {
        switch choice {
        case .yes: .touched
        case .no: .notTouched
        case .never: .pending
        case .ask: waiting(account, "press Enter") { _ in Self.readLine() }
        case .signal: waiting(account, "kill -USR1 \(getpid())") { $0.signals != Self.signals.load(ordering: .relaxed) }
        case .after(let time): waiting(account, nil) { .now >= $0.began.advanced(by: time) }
        }
    }

    /// Returns the slot to type after a touch that no operation waits for: SIGUSR1 is a short touch, SIGUSR2 a long
    /// one.
    @Sendable func press() -> Int? {
        guard choice == .signal else { return nil }
        let isWaiting = wait.withLock { $0.map { $0.asked.duration(to: .now) < .seconds(1) } ?? false }
        let (short, long) = Self.received
        return consumed.withLock { consumed in
            defer { consumed = (short, long) }
            if isWaiting { return nil }
            return short != consumed.short ? 1 : long != consumed.long ? 2 : nil
        }
    }

    /// Says once what to do, and checks whether the user did it. A wait ends after a second without a check.
    private func waiting(_ account: [UInt8], _ what: String?, _ isDone: (Wait) -> Bool) -> VirtualInputs.Touch {
        wait.withLock { wait in
            let now = ContinuousClock.now
            var current = wait.flatMap { $0.asked.duration(to: now) < .seconds(1) ? $0 : nil }
            if current == nil, let what {
                terminal.say("'\(String(decoding: account, as: UTF8.self).printable)' is waiting for a touch: \(what)")
            }
            current = current ?? Wait(began: now, asked: now, signals: Self.signals.load(ordering: .relaxed))
            current?.asked = now
            wait = current
            guard current.map(isDone) ?? false else { return .pending }
            wait = nil
            consumed.withLock { $0 = Self.received }  // What touched for the operation types no slot.
            return .touched
        }
    }

    private static var received: (short: Int, long: Int) {
        (signals.load(ordering: .relaxed), longSignals.load(ordering: .relaxed))
    }

    private static func listen() {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in TouchSimulator.signals.add(1, ordering: .relaxed) }
        sigaction(SIGUSR1, &action, nil)
        action.__sigaction_handler.sa_handler = { _ in TouchSimulator.longSignals.add(1, ordering: .relaxed) }
        sigaction(SIGUSR2, &action, nil)
    }

    private static func readLine() -> Bool {
        var input = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
        guard poll(&input, 1, 0) > 0 else { return false }
        var buffer = [UInt8](repeating: 0, count: 256)
        return read(0, &buffer, buffer.count) > 0
    }
}
