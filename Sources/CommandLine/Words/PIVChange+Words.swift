// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKPIV

extension PIVChange {
    /// Explains a change whose reply was lost: the possible states of the key, and how to find out.
    package func uncertain(_ cause: Explanation) -> Explanation {
        let (state, hint) = possible
        return Explanation(cause.code, cause.exit, "\(cause.message); \(state)", hint: hint)
    }

    private var possible: (state: String, hint: String) {
        switch self {
        case .pin: ("the PIN may be the old or the new one", "try the new one first; a wrong one costs a try")
        case .puk: ("the PUK may be the old or the new one", "try the new one first; a wrong one costs a try")
        case .retries:
            ("PIN and PUK may be 123456 and 12345678 now", "'ykit piv info' shows how many tries they have")
        case .managementKey(protected: true):
            ("the management key may be the old or the new one, and the PIN leads to either", "repeat the command")
        case .managementKey(protected: false):
            (
                "the management key may be the old or the new one: keep both",
                "repeat the command with the new one as the present management key, then with the old one"
            )
        case .key(let slot):
            ("slot \(slot) may have the old or the new key", "'ykit piv keys info \(slot)' shows which")
        case .certificate(let slot):
            (
                "slot \(slot) may have the old or the new certificate",
                "repeat the command; 'ykit piv certificates export \(slot)' shows what is there"
            )
        case .reset: ("PIV may be reset", "'ykit piv info' shows what is there; repeat the command")
        }
    }

    /// Explains a change that is only partly complete.
    package func unfinished(_ cause: Explanation) -> Explanation {
        let (state, hint): (String, String?) =
            switch self {
            case .pin:
                (
                    "the PIN is changed; the management key that was derived from the old one is stored behind the new one",
                    "ykit piv access change-management-key --generate --protect"
                )
            case .managementKey(protected: true):
                (
                    "the management key is changed and the PIN leads to it; what noted the old one is not removed",
                    "repeat the command"
                )
            case .managementKey(protected: false):
                (
                    "the management key is changed; the notes on the key still say that the PIN leads to it",
                    "repeat the command with the new one as the present management key"
                )
            case .certificate(let slot):
                (
                    "the change of the certificate in slot \(slot) is made; the card's identifier is not renewed",
                    cause.hint
                )
            default: ("the change is made, but not all that belongs to it", cause.hint)
            }
        return Explanation(cause.code, cause.exit, "\(state): \(cause.message)", hint: hint)
    }
}
