// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs

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
