// SPDX-License-Identifier: Apache-2.0

extension Explanation {
    /// The key was not touched in time.
    package static let notTouched = Explanation(
        "not-touched", .timeOut, "the key was not touched in time",
        hint: "repeat the command and touch the key while it blinks")

    /// What to do about a reply that violates the protocol.
    package static let recordAndReport = "record it with --record FILE and report it"

    /// Creates the explanation of a key's reply that violates its protocol.
    package static func malformedReply(_ message: String) -> Explanation {
        Explanation("malformed-reply", .malformed, message, hint: recordAndReport)
    }

    /// The system's random generator failed.
    package static let random = Explanation("random", .failed, "the system returned no random bytes")

    /// The error for a user without a folder to store data in.
    package static func noHome(_ variable: String) -> Explanation {
        Explanation(
            "no-home", .failed, "neither HOME nor \(variable) names a folder to store data in",
            hint: "set one of them to the path of a folder")
    }

    /// Returns the explanation with another code.
    package func coded(_ code: String) -> Explanation {
        var explanation = self
        explanation.code = code
        return explanation
    }
}
