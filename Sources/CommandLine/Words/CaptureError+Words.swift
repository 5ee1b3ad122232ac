// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKCapture

extension CaptureError: Explained {
    package var explanation: Explanation { explanation(of: "this") }

    /// Explains why a file is not a recording.
    package func explanation(in path: String) -> Explanation {
        explanation(of: path == "-" ? "standard input" : path.printable)
    }

    private func explanation(of what: String) -> Explanation {
        .malformed(
            "\(what) is not a ykit recording: \(self)",
            hint: "'ykit --record FILE' creates one; 'ykit capture import' converts another tool's log")
    }
}
