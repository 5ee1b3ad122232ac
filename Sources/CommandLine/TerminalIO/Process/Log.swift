// SPDX-License-Identifier: Apache-2.0

import Arguments
import Glibc
import Synchronization
import YKInteraction
import YKTransport
import YKWire

/// The destination of `--log-level`: standard error, or a file that only its owner may read.
package final class Log: Sendable {
    package let level: LogLevel
    private let descriptor: Int32
    private let terminal: Terminal
    private let hasFailed = Atomic(false)

    package init(level: LogLevel, file: String?, _ terminal: Terminal) throws(Explanation) {
        self.level = level
        self.terminal = terminal
        guard let file, level > .off else {
            descriptor = 2
            return
        }
        descriptor = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Files.failure("cannot open", file) }
    }

    deinit { if descriptor > 2 { close(descriptor) } }

    /// Whether anything is logged.
    package var isOn: Bool { level > .off }

    /// Logs a line at a level. Warns once if the file cannot be written.
    package func say(_ level: LogLevel, _ text: @autoclosure () -> String) {
        guard level <= self.level else { return }
        let line = "\(level.rawValue): \(text().printable)\n"
        guard descriptor != 2 else { return terminal.draw(line) }
        do throws(Streams.Failure) { try Descriptor.write(Array(line.utf8), to: descriptor) } catch {
            guard !hasFailed.exchange(true, ordering: .relaxed) else { return }
            terminal.warnNow("the log is incomplete: \(System.failure)")
        }
    }
}

/// The verbosity of the log.
package enum LogLevel: String, CaseIterable, ExpressibleByArgument, Comparable {
    case off, info, debug, traffic

    package static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }
    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
