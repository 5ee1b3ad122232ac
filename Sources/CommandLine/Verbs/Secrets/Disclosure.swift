// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKCrypto
import YKInteraction
import YKTransport

/// A generated secret, disclosed once: in a file, or else on the terminal, never in the results.
///
/// It is created before the key receives the secret, so that the key never holds one that could not be disclosed. The
/// file is then on disk under a temporary name; ``show()`` gives it its final name, once the key has the secret, and is
/// removed if the key refuses it.
package struct Disclosure {
    private let terminal: Terminal
    private let words: String
    private let text: SharedSecret
    private let path: String?
    private var file: FileOutput?
    /// The lines of a QR code of the text.
    private var code: [String] = []

    /// Writes the text to a new file, or checks that a terminal can show it.
    ///
    /// - Parameter drawing: Draws a QR code to show as well.
    package init(
        _ words: String, _ text: SharedSecret, in file: String?, as drawing: QRDrawing? = nil, orElse hint: String,
        _ terminal: Terminal
    ) throws {
        self.words = words
        self.terminal = terminal
        self.text = text
        path = file
        if let drawing {
            try terminal.requirePerson(orElse: "omit --qr, which needs one")
            var bytes = text.value.copyBytes()
            defer { Secret.wipe(&bytes) }
            code = try drawing.lines(bytes, columns: terminal.stage.person.presence.columns)
        }
        if let file {
            var line = text.value.copyBytes() + [UInt8(ascii: "\n")]
            defer { Secret.wipe(&line) }
            let output = try FileOutput(file: file, force: nil)
            try output.prepare(line)
            self.file = output
        } else {
            guard terminal.stage.person.presence.isHere else {
                throw Explanation(
                    "no-terminal", .declined,
                    "a generated secret is shown on a terminal or written to a file; "
                        + "there is no terminal", hint: hint)
            }
        }
    }

    /// Discloses the secrets of a change that failed, if the key has made it in part, or may have made it, having sent no
    /// reply or one that cannot be read.
    ///
    /// - Parameter isStored: Whether the key has the secret: the change failed in a later step.
    package static func keep(
        _ made: [Disclosure], after error: any Error, isStored: Bool = false, _ terminal: Terminal
    ) throws {
        guard isStored || isUnanswered(error) else { return }
        let words = isStored ? "the key has the new secret" : "the key may have made the change"
        try each(
            made.map { secret in
                {
                    try secret.show()
                    let place = secret.path.map { "the secret is in \($0.printable)" } ?? "keep the secret"
                    terminal.warnNow("\(words): \(place)")
                }
            })
    }

    /// Discloses secrets that the key has accepted, all of them even if one fails.
    ///
    /// - Throws: The first failure.
    package static func show(_ made: [Disclosure]) throws { try each(made.map { secret in { try secret.show() } }) }

    /// Takes all steps that save what the key has accepted, even if one fails.
    ///
    /// - Throws: The first failure.
    package static func each(_ steps: [() throws -> Void]) throws {
        var failure: (any Error)?
        for step in steps {
            do { try step() } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }

    /// Whether the key may have made a change that failed, having sent no reply, or one that cannot be read.
    private static func isUnanswered(_ error: any Error) -> Bool {
        if case .malformed = CardError(causing: error) { return true }
        return switch LinkError(causing: error) {
        case .removed, .reset, .timedOut, .cancelled, .closed, .unresponsive, .malformed, .failed: true
        default: error is TouchMissed
        }
    }

    /// Gives the file its name; shows the QR code, and the text unless it is in a file.
    ///
    /// - Throws: An error that names the file in which the secret is, if the name or the terminal is lost.
    package func show() throws {
        try file?.commit()
        do { try tell() } catch {
            guard path == nil else { throw error }
            var bytes = text.value.copyBytes() + [UInt8(ascii: "\n")]
            defer { Secret.wipe(&bytes) }
            var failure = Explanation(error)
            failure.hint = terminal.rescue(bytes).map { "the secret is in \($0.printable)" } ?? failure.hint
            throw failure
        }
    }

    private func tell() throws {
        if !code.isEmpty { try terminal.show(code, orElse: "") }
        guard path == nil else { return }
        var bytes = text.value.copyBytes()
        defer { Secret.wipe(&bytes) }
        try terminal.show(["\(words): \(String(decoding: bytes, as: UTF8.self))"], orElse: "")
    }
}

extension Program {
    /// Whether a variable may hold a secret, and is therefore not inherited by other programs.
    @Sendable package static func mayHoldSecret(_ variable: String) -> Bool {
        variable.hasPrefix("YKIT_") && !HelpTopic.settings.contains(variable)
    }
}
