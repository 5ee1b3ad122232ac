// SPDX-License-Identifier: Apache-2.0

import YKHTTP
import YKPrivacyIDEA

extension Explain {
    static func privacyIDEA(_ error: PrivacyIDEAError) -> Explanation {
        switch error {
        case .http(let error): server(http(error))
        case .refused(let status, let code, let message): refused(status, code, message.printable)
        case .status(let status):
            Explanation(
                "server", .failed, "the server answered with HTTP status \(status)",
                hint: "check the address; a proxy may have answered in its place")
        case .malformed(let reason):
            malformed("the server's answer is not privacyIDEA's: \(reason.printable)", hint: "check the address")
        case .signature:
            malformed(
                "the server's audit key did not sign the answer",
                hint: "the key is not this server's, or someone changed the answer")
        case .random: Explanation("random", .failed, "the system gave no random bytes")
        }
    }

    /// A server that is not reached has an exit status of its own, whatever is in its way.
    private static func server(_ explanation: Explanation) -> Explanation {
        guard ["server-unreachable", "server-timed-out", "redirected", "http"].contains(explanation.code) else {
            return explanation
        }
        var explanation = explanation
        explanation.exit = .server
        return explanation
    }

    private static func refused(_ status: Int, _ code: Int, _ message: String) -> Explanation {
        let words = "the server refused: \(message)"
        return switch (status, code) {
        case (401, _):
            Explanation("credentials", .authentication, words, hint: "check the user name and the password")
        case (403, _):
            Explanation("forbidden", .policy, words, hint: "ask who runs the server for the right to do this")
        case (404, _), (400, 904), (400, 9051): Explanation("not-found", .notFound, words)
        case (500..., _): Explanation("server", .failed, words, hint: "repeat the command later")
        default: Explanation("refused", .failed, words)
        }
    }
}
