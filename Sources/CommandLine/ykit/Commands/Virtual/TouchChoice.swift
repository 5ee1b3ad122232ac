// SPDX-License-Identifier: Apache-2.0

import Arguments

/// Who touches a served key.
enum TouchChoice: Hashable, ExpressibleByArgument {
    /// Somebody, at once.
    case yes
    /// Nobody, and the key's time is over at once.
    case no
    /// Nobody, and the key waits as long as it does.
    case never
    /// The person at the terminal, with Enter.
    case ask
    /// Whoever sends SIGUSR1.
    case signal
    /// Somebody, this long after the key began to wait.
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

    /// Seconds, or a number with `ms` or `s` behind it.
    private static func time(_ text: String) -> Duration? {
        if text.hasSuffix("ms"), let number = Int32(text.dropLast(2)), number >= 0 { return .milliseconds(number) }
        let seconds = text.hasSuffix("s") ? String(text.dropLast()) : text
        guard let number = Double(seconds), number >= 0, number < 1e6 else { return nil }
        return .seconds(number)
    }
}
