// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKCapture

extension CaptureError: Explained {
    package var explanation: Explanation { explanation(concerning: nil) }

    package func explanation(concerning subject: Subject?) -> Explanation {
        let what = subject.map { $0.text == "-" ? "standard input" : $0.text.printable } ?? "this"
        return .malformed(
            "\(what) is not a ykit recording: \(self)",
            hint: "'ykit --record FILE' creates one; 'ykit capture import' converts another tool's log")
    }
}
