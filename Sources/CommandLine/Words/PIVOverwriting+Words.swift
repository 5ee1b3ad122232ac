// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
import YKInteraction
import YKPIV
package import YKUse
import YKWire

extension PIVOverwriting.Question: Worded {
    package var words: QuestionWords { QuestionWords("PIV", question) }

    private var question: String {
        switch self {
        case .key(let algorithm, let slot):
            "the key in slot \(slot) (\(algorithm?.description ?? "of a kind that the card does not report")) "
                + "would be permanently lost: overwrite it"
        case .certificate(let subject, let slot):
            "the certificate in slot \(slot) (\(subject?.printable ?? "one that cannot be read")) "
                + "would be lost: overwrite it"
        case .object(let id): "the content of object \(id) would be lost: overwrite it"
        }
    }
}
