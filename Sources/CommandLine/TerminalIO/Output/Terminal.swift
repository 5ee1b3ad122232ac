// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
package import YKDesktop
import YKHardware
import YKWire

/// Standard output and standard error, and their properties.
package struct Terminal: Sendable {
    /// Whether results go to a terminal.
    package let isOutputTerminal: Bool
    /// Whether messages go to a terminal.
    package let isErrorTerminal: Bool
    /// Whether results, and messages, are styled.
    private var stylesOutput: Bool
    private var stylesErrors: Bool
    /// Whether hints, notices and progress are suppressed.
    package private(set) var isQuiet = false
    /// Whether warnings are collected for the answer, for programs.
    private var isNoting = false
    private let notes = Notes()

    private final class Notes: Sendable {
        /// All warnings, and those collected for the answer.
        let texts = Mutex<(all: [String], kept: [Warning])>(([], []))
        /// Receives messages instead of standard error.
        let relay = Mutex<(@Sendable (String) -> Void)?>(nil)
        /// The purpose of the current operation, and who else is notified when the key waits for a touch.
        let touch = Mutex<(reason: String, notifier: TouchNotifier?)>(("use the key", nil))
    }

    package init() {
        isOutputTerminal = isatty(1) == 1
        isErrorTerminal = isatty(2) == 1
        stylesOutput = Style.isWanted(nil, isTerminal: isOutputTerminal)
        stylesErrors = Style.isWanted(nil, isTerminal: isErrorTerminal)
    }

    /// Returns the terminal with other settings.
    ///
    /// - Parameters:
    ///   - color: Whether text is styled; `nil`: on a terminal.
    ///   - isJSON: Whether the result is one JSON object, which includes the warnings.
    ///   - isQuiet: Whether hints, notices and progress are suppressed.
    package func set(color: ColorChoice?, isJSON: Bool, isQuiet: Bool) -> Terminal {
        Style.chosen.withLock { $0 = color }
        var copy = self
        copy.isNoting = isJSON
        copy.isQuiet = isQuiet
        copy.stylesOutput = !isJSON && Style.isWanted(color, isTerminal: isOutputTerminal)
        copy.stylesErrors = Style.isWanted(color, isTerminal: isErrorTerminal)
        return copy
    }

    /// Writes a result.
    package func out(_ text: String) { Self.write(Array(text.shown(styled: stylesOutput).utf8), to: 1) }

    /// Writes a line of the result.
    package func line(_ text: String) { out(text + "\n") }

    /// Writes the lines of a result at once.
    package func lines(_ lines: [String]) {
        Self.write(bytes(of: lines), to: 1)
    }

    /// Returns the lines of a result as they are written: never broken, since they may be copied from the terminal.
    package func bytes(of lines: [String]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(lines.reduce(0) { $0 + $1.utf8.count + 1 })
        for line in lines {
            bytes += line.shown(styled: stylesOutput).utf8
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }

    /// Writes a message for the user: a request, a warning or a failure. On a terminal it is wrapped between words.
    package func say(_ text: String) {
        if let relay = notes.relay.withLock({ $0 }) { return relay(text.shown(styled: false)) }
        let shown = isErrorTerminal ? text.wrappedLines(to: Self.columns(of: 2) ?? 80) : text
        Self.write(Array((shown.shown(styled: stylesErrors) + "\n").utf8), to: 2)
    }

    /// Writes a message that requires no action; suppressed by `--quiet`.
    package func notice(_ text: String) { if !isQuiet { say(text) } }

    /// Redirects messages from standard error to `body`; `nil` ends the redirection.
    package func relay(_ body: (@Sendable (String) -> Void)?) { notes.relay.withLock { $0 = body } }

    /// Sets the purpose that a touch prompt states.
    package func purpose(_ reason: String) { notes.touch.withLock { $0.reason = reason } }

    /// Adds a notifier for when the key waits for a touch.
    package func notify(by notifier: TouchNotifier?) { notes.touch.withLock { $0.notifier = notifier } }

    /// Reports that the key waits for a touch.
    package func beginTouch(_ words: String) {
        say(words)
        let (reason, notifier) = notes.touch.withLock { $0 }
        notifier?.begin(words, for: reason.shown(styled: false))
    }

    /// Tells the notifier that the key no longer waits.
    package func endTouch() { notes.touch.withLock { $0.notifier }?.end() }

    /// Waits until the notifier is done.
    package func finishTouch() { notes.touch.withLock { $0.notifier }?.finish() }

    /// Writes a message only if a person sees both the messages and the results.
    package func note(_ text: String) { if isOutputTerminal, isErrorTerminal { notice(Style.dim.around(text)) } }

    /// Writes a warning.
    package func warn(_ warning: Warning) {
        guard isNoting else { return warnNow(warning.message) }
        notes.texts.withLock {
            $0.all.append(warning.message)
            $0.kept.append(warning)
        }
    }

    /// Writes a warning with its stable identifier.
    package func warn(_ code: String, _ message: String) { warn(Warning(code, message)) }

    /// Writes a warning that is not part of the answer.
    package func warnNow(_ text: String) {
        notes.texts.withLock { $0.all.append(text) }
        say(Style.yellow.around("warning:") + " " + text)
    }

    /// The warnings collected for the answer.
    package var noted: [Warning] { notes.texts.withLock { $0.kept } }

    /// Every warning so far.
    package var warnings: [String] { notes.texts.withLock { $0.all } }

    /// Writes a failure.
    package func fail(_ explanation: Explanation) {
        say(Style.red.around("ykit:") + " " + explanation.lines(hasHint: !isQuiet).joined(separator: "\n"))
    }

    /// Writes all bytes. If the reader of the results has closed its end, the program exits; if they cannot be written
    /// for another reason, it exits with a failure.
    ///
    /// - Parameters:
    ///   - isMadeOnce: Whether the key produces these results only once, so that they are saved elsewhere.
    ///   - failure: The failure that the results report; it is then reported on standard error.
    /// - Returns: Whether all bytes are written, elsewhere than to standard output.
    @discardableResult package static func write(
        _ bytes: [UInt8], to descriptor: Int32, isMadeOnce: Bool = false, telling failure: Explanation? = nil
    ) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EPIPE, descriptor == 1, !isMadeOnce {
                (failure?.exit ?? .done).end()
            }
            guard count > 0 else {
                if descriptor == 1 { endWithoutResults(rescuing: isMadeOnce ? bytes : nil, telling: failure) }
                return false
            }
            rest = rest.dropFirst(count)
        }
        return true
    }
}

extension Terminal {
    /// The width of the terminal that shows the results, or 80 columns if they go elsewhere.
    package var columns: Int { Self.resultColumns ?? 80 }

    /// The width of the terminal that shows the results; `nil` if they go elsewhere.
    package static var resultColumns: Int? { columns(of: 1) }

    /// The width of a terminal; `nil` for anything else.
    package static func columns(of descriptor: Int32) -> Int? { size(of: descriptor).map { Int($0.ws_col) } }

    /// The width of help, at most 120 columns, since longer lines are hard to read.
    package var helpColumns: Int { min(max(columns, 40), 120) }

    /// The height of the terminal in lines.
    package var rows: Int { Self.size(of: 1).map { Int($0.ws_row) } ?? 24 }

    private static func size(of descriptor: Int32) -> winsize? {
        var size = winsize()
        return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0 ? size : nil
    }

    /// Exits. Results that must not be lost are saved in a temporary file, or else written to the terminal.
    private static func endWithoutResults(rescuing bytes: [UInt8]?, telling failure: Explanation?) -> Never {
        var message = "ykit: cannot write the results: \(System.failure)\n"
        if let bytes {
            if let file = Files.rescue(bytes) {
                message += "hint: they are in \(file)\n"
            } else if let prompt = try? Prompt(orElse: "") {
                prompt.tell(String(decoding: bytes, as: UTF8.self))
            }
        }
        write(Array(message.utf8), to: 2)
        if let failure { Terminal().fail(failure) }
        (failure?.exit ?? .failed).end()
    }

    /// Opens a placeholder, neither readable nor writable, for each closed standard stream; otherwise a file opened
    /// later would get its number, and receive the results.
    ///
    /// - Returns: Whether results can be written.
    package static func fillPlaces() -> Bool {
        var isComplete = true
        for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) < 0 {
            if descriptor == 1 { isComplete = false }
            _ = open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
        }
        return isComplete
    }
}

/// The environment variables of the process.
package enum Variables {
    /// The value of a variable; `nil` if it is not set or empty.
    package static subscript(name: String) -> String? { ProcessVariables[name] }
}
