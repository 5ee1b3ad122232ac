// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
import YKInteraction
import YKKeys
import YKTransport

/// Asks for a touch once the key has been waiting for it for a moment.
package struct TouchPrompt: PendingTouch {
    /// The default prompt.
    package static let standard = "touch the key"

    private let notice: TouchNotice

    package init(_ terminal: Terminal, _ words: String = standard) {
        notice = TouchNotice(
            terminal.stage.alarm, begin: { terminal.beginTouch(words) }, end: { terminal.endTouch() })
    }

    var isShown: Bool { notice.isGiven }

    /// Reports that the key no longer waits.
    package func end() { notice.finish() }

    /// Runs an exchange that may wait for a touch.
    ///
    /// - Throws: `TouchMissed` if the prompt was shown and the key did not answer in time; otherwise the error
    ///   of the body.
    package static func during<Result>(
        _ terminal: Terminal, _ body: () async throws -> Result
    ) async throws -> Result {
        let prompt = TouchPrompt(terminal)
        defer { prompt.end() }
        do { return try await body() } catch {
            guard prompt.isShown, case .timedOut? = LinkError(causing: error) else { throw error }
            throw TouchMissed()
        }
    }
}

extension TouchReason {
    /// The message for the user.
    package var words: String {
        switch self {
        case .touch: TouchPrompt.standard
        case .placement: "touch the key, or take the card off the reader and put it back"
        case .enrolment: "put a finger on the key's sensor"
        case .fingerprint: "put your finger on the key's sensor"
        }
    }
}
