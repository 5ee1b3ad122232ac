// SPDX-License-Identifier: Apache-2.0

import Arguments
import Glibc
import Synchronization
package import YKDesktop
package import YKInteraction

/// Standard output and standard error, and their properties.
package struct Terminal: Sendable {
    /// What the run has around it.
    package var stage: Stage
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

    package init(_ stage: Stage = .live) {
        self.stage = stage
        isOutputTerminal = stage.streams.terminals.contains(.results)
        isErrorTerminal = stage.streams.terminals.contains(.messages)
        stylesOutput = Style.isWanted(nil, isTerminal: isOutputTerminal, stage.variables)
        stylesErrors = Style.isWanted(nil, isTerminal: isErrorTerminal, stage.variables)
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
        copy.stylesOutput = !isJSON && Style.isWanted(color, isTerminal: isOutputTerminal, stage.variables)
        copy.stylesErrors = Style.isWanted(color, isTerminal: isErrorTerminal, stage.variables)
        return copy
    }

    /// Writes a result.
    package func out(_ text: String) { write(Array(text.shown(styled: stylesOutput).utf8)) }

    /// Writes a line of the result.
    package func line(_ text: String) { out(text + "\n") }

    /// Writes the lines of a result at once.
    package func lines(_ lines: [String]) { write(bytes(of: lines)) }

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
        let shown = isErrorTerminal ? text.wrappedLines(to: messageColumns) : text
        draw(shown.shown(styled: stylesErrors) + "\n")
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

    /// Writes results. If their reader has closed its end, the program exits; if they cannot be written for another
    /// reason, it exits with a failure.
    ///
    /// - Parameters:
    ///   - isMadeOnce: Whether the key produces these results only once, so that they are saved elsewhere.
    ///   - failure: The failure that the results report; it is then reported on standard error.
    package func write(_ bytes: [UInt8], isMadeOnce: Bool = false, telling failure: Explanation? = nil) {
        do throws(Streams.Failure) { try stage.streams.write(bytes, .results) } catch {
            if error == .closed, !isMadeOnce { (failure?.exit ?? .done).end() }
            endWithoutResults(rescuing: isMadeOnce ? bytes : nil, telling: failure)
        }
    }

    /// Writes text unchanged, to move the cursor or redraw a line.
    package func draw(_ text: String) {
        do throws(Streams.Failure) { try stage.streams.write(Array(text.utf8), .messages) } catch {}
    }

    /// Writes text unchanged among the results, to redraw them.
    package func redraw(_ text: String) { write(Array(text.utf8)) }

    /// The width of the terminal that shows the results, or 80 columns if they go elsewhere.
    package var columns: Int { stage.streams.size(.results)?.columns ?? 80 }

    /// The width of the terminal that shows the messages, or 80 columns if they go elsewhere.
    var messageColumns: Int { stage.streams.size(.messages)?.columns ?? 80 }

    /// The width of the terminal that shows the results; `nil` if they go elsewhere.
    package static var resultColumns: Int? { Descriptor.size(of: 1)?.columns }

    /// The width of help, at most 120 columns, since longer lines are hard to read.
    package var helpColumns: Int { min(max(columns, 40), 120) }

    /// The height of the terminal in lines.
    package var rows: Int { stage.streams.size(.results)?.rows ?? 24 }

    /// Exits. Results that must not be lost are saved in a temporary file, or else written to the terminal.
    private func endWithoutResults(rescuing bytes: [UInt8]?, telling failure: Explanation?) -> Never {
        var message = "ykit: cannot write the results: \(System.failure)\n"
        if let bytes {
            if let file = rescue(bytes) {
                message += "hint: they are in \(file)\n"
            } else {
                do throws(Declined) { try stage.person.show([String(decoding: bytes, as: UTF8.self)]) } catch {}
            }
        }
        draw(message)
        if let failure { fail(failure) }
        (failure?.exit ?? .failed).end()
    }

    /// Saves bytes that a key produces only once in a new file, after their destination could not be written.
    ///
    /// - Returns: The file, in the folder for temporary files or in the current one; `nil` if neither is writable.
    package func rescue(_ bytes: [UInt8]) -> String? {
        for folder in [stage.variables["TMPDIR"] ?? "/tmp", "."] {
            for attempt in 0..<100 {
                let path = "\(folder)/ykit-result-\(getpid())-\(attempt)"
                do throws(Explanation) {
                    try Files.create(bytes, at: path)
                    return path
                } catch {
                    guard Files.isTaken(path) else { break }
                }
            }
        }
        return nil
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

/// When colors and bold text are used.
package enum ColorChoice: String, CaseIterable, ExpressibleByArgument {
    case auto, always, never
}
