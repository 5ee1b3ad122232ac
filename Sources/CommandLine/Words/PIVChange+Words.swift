// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
import YKInteraction
package import YKPIV
package import YKUse

extension PIVChange {
    /// Explains a change whose reply was lost: the possible states of the key, and how to find out.
    package func uncertain(_ cause: Explanation) -> Explanation {
        let (state, hint) = possible
        return Explanation(cause.code, cause.exit, "\(cause.message); \(state)", hint: hint)
    }

    private var possible: (state: String, hint: String) {
        switch self {
        case .pin: ("the PIN may be the old or the new one", "try the new one first; each wrong one uses up a try")
        case .puk: ("the PUK may be the old or the new one", "try the new one first; each wrong one uses up a try")
        case .retries:
            ("PIN and PUK may now be 123456 and 12345678", "'ykit piv info' shows how many tries are left")
        case .managementKey(protected: true):
            (
                "the management key may be the old or the new one, and the PIN gives access to either",
                "repeat the command"
            )
        case .managementKey(protected: false):
            (
                "the management key may be the old or the new one: keep both",
                "repeat the command with the new one as the current management key, then with the old one"
            )
        case .key(let slot):
            ("slot \(slot) may have the old or the new key", "'ykit piv keys info \(slot)' shows which")
        case .certificate(let slot):
            (
                "slot \(slot) may have the old or the new certificate",
                "repeat the command; 'ykit piv certificates export \(slot)' shows which"
            )
        case .reset: ("PIV may be reset", "'ykit piv info' shows the state; repeat the command")
        }
    }

    /// Explains a change that is only partly complete.
    package func unfinished(_ cause: Explanation) -> Explanation {
        let (state, hint): (String, String?) =
            switch self {
            case .pin:
                (
                    "the PIN was changed; the management key that was derived from the old PIN is now protected by the new one",
                    "ykit piv access change-management-key --generate --protect"
                )
            case .managementKey(protected: true):
                (
                    "the management key was changed and protected by the PIN; the record of the old one was not removed",
                    "repeat the command"
                )
            case .managementKey(protected: false):
                (
                    "the management key was changed; the key still records that the PIN gives access to it",
                    "repeat the command with the new one as the current management key"
                )
            case .certificate(let slot):
                (
                    "the certificate in slot \(slot) was changed; the card's identifier was not renewed",
                    cause.hint
                )
            case .retries:
                (
                    "the numbers of tries were set, and PIN and PUK are now 123456 and 12345678; they could not be checked",
                    "change both: ykit piv access change-pin, ykit piv access change-puk"
                )
            case .key(let slot):
                ("the key in slot \(slot) was deleted, and no other was moved there", "repeat the command")
            case .reset:
                (
                    "the reset is not complete, and tries of the PIN and the PUK are used up",
                    "repeat the command; 'ykit piv info' shows the state"
                )
            case .puk: ("the PUK was changed, and a later step failed", cause.hint)
            }
        return Explanation("unfinished", cause.exit, "\(state): \(cause.message)", hint: hint)
    }
}

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
