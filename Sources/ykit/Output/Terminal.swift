// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKWire

/// Standard output, standard error, and what is known of them.
struct Terminal: Sendable {
    /// Whether results go to a terminal.
    let isOutputTerminal: Bool
    /// Whether messages go to a terminal.
    let isErrorTerminal: Bool
    /// Whether colours are wanted: on a terminal, unless NO_COLOR is set (no-color.org).
    let colours: Bool

    init() {
        isOutputTerminal = isatty(1) == 1
        isErrorTerminal = isatty(2) == 1
        let refused = Variables["NO_COLOR"].map { !$0.isEmpty } ?? false
        colours = !refused && Variables["TERM"] != "dumb"
    }

    /// Writes a result.
    func out(_ text: String) { Self.write(Array(text.utf8), to: 1) }

    /// Writes a line of the result.
    func line(_ text: String) { out(text + "\n") }

    /// Writes the lines of a result at once.
    func lines(_ lines: [String]) {
        var bytes: [UInt8] = []
        for line in lines {
            bytes += line.utf8
            bytes.append(UInt8(ascii: "\n"))
        }
        Self.write(bytes, to: 1)
    }

    /// Writes a message for the person, one line.
    func say(_ text: String) { Self.write(Array((text + "\n").utf8), to: 2) }

    /// Writes a warning.
    func warn(_ text: String) { say((isErrorTerminal ? paint("warning:", 33) : "warning:") + " " + text) }

    /// Writes a failure.
    func fail(_ explanation: Explanation) {
        let prefix = isErrorTerminal ? paint("ykit:", 31) : "ykit:"
        say(prefix + " " + explanation.lines.joined(separator: "\n"))
    }

    private func paint(_ text: String, _ code: Int) -> String {
        colours ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }

    /// The text in bold, where results go to a terminal that wants colours.
    func bold(_ text: String) -> String { isOutputTerminal && colours ? "\u{1B}[1m\(text)\u{1B}[0m" : text }

    /// The text in grey, likewise.
    func dim(_ text: String) -> String { isOutputTerminal && colours ? "\u{1B}[2m\(text)\u{1B}[0m" : text }

    /// Writes all bytes; when the reader of the results went away, there is nothing left to do.
    static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EPIPE, descriptor == 1 { exit(0) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}

/// The variables of the process environment.
enum Variables {
    static subscript(name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        return String(cString: value)
    }
}
