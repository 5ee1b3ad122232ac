// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKNFC

extension TagError: Explained {
    package var explanation: Explanation {
        switch self {
        case .card(let error): error.explanation
        case .notATag:
            Explanation(
                "not-a-tag", .notSupported,
                "the card in the reader is not a tag: its NDEF application is missing or disabled",
                hint:
                    "a YubiKey is a tag only on a contactless reader, while its OTP application is enabled over NFC"
            )
        case .lost:
            Explanation(
                "tag-lost", .removed, "the tag was removed before it was read",
                hint: "hold it still on the reader and repeat the command")
        case .protected(let access):
            Explanation(
                "tag-protected", .policy,
                "the tag is protected against reading (access condition \(String(access, radix: 16)))")
        case .malformed(let error):
            .malformed(
                "the tag does not contain a valid message: \(error)", hint: Explanation.recordAndReport
            )
        case .unsteady:
            Explanation(
                "tag-unsteady", .failed, "the tag kept changing or being reset while it was read",
                hint: "hold it still on the reader, and close other programs that use it")
        }
    }
}
