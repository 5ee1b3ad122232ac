// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import YKApproval
import YKWire

extension TiQRResult {
    /// Why a TiQR service refused the login; `nil` if it succeeded.
    var refusal: Explanation? {
        switch self {
        case .accepted: return nil
        case .wrong(let left):
            var explanation = Explanation(
                "wrong-response", .authentication,
                "the service refused the response" + (left.map { ", \(Tries.areLeft($0))" } ?? ""),
                hint: "the account may have been enrolled again elsewhere; enroll it again here")
            explanation.retriesLeft = left
            return explanation
        case .unknownChallenge:
            return Explanation(
                "expired", .timeOut, "the login is no longer open: it has expired or has already been answered",
                hint: "start the login again")
        case .unknownIdentity:
            return Explanation(
                "unknown-user", .notFound, "the service does not know this account",
                hint: "it was deleted there; enroll again")
        case .blocked(let duration):
            let minutes = duration.map { " for \($0.components.seconds / 60) minutes" } ?? ""
            return Explanation("locked", .blocked, "the service locked the account" + minutes)
        case .other(let text):
            return Explanation("failed", .failed, "the service answered \(text.printable)")
        }
    }
}
