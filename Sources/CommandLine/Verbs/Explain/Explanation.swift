// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// A failure as reported to a person: what happened and why, what to type next, and the exit status.
package struct Explanation: Error, Hashable, Sendable {
    /// A stable identifier, for programs.
    package var code: String
    /// What happened, and why.
    package var message: String
    /// What to type next.
    package var hint: String?
    /// The remaining retries, if the key counts them.
    package var retriesLeft: Int?
    /// The exit status.
    package var exit: ExitStatus
    /// The candidates to choose from.
    package var candidates: [String]
    /// The error numbers of a server.
    package var server: ServerCodes?

    package init(
        _ code: String, _ exit: ExitStatus, _ message: String, hint: String? = nil, retriesLeft: Int? = nil,
        candidates: [String] = []
    ) {
        self.code = code
        self.exit = exit
        self.message = message
        self.hint = hint
        self.retriesLeft = retriesLeft
        self.candidates = candidates
    }

    /// Creates the explanation of an invalid command line.
    package static func usage(_ message: String, hint: String? = nil) -> Explanation {
        Explanation("usage", .usage, message, hint: hint)
    }

    /// Returns the explanation with the key that refused a credential, for a verb that uses several keys.
    package func of(key: String) -> Explanation {
        guard exit == .authentication || exit == .blocked else { return self }
        var explanation = self
        explanation.message += " (key \(key.printable))"
        return explanation
    }

    /// The member `error` of an answer.
    package var json: JSONValue {
        var object: JSONValue = [
            "code": .string(code), "message": .string(message), "hint": hint.map(JSONValue.string) ?? .null,
            "retriesLeft": retriesLeft.map { .int(Int64($0)) } ?? .null, "exitCode": .int(Int64(exit.rawValue)),
        ]
        if var members = object.object, !candidates.isEmpty || server != nil {
            if !candidates.isEmpty { members["candidates"] = .array(candidates.map(JSONValue.string)) }
            for member in server?.members ?? [] { members[member.0] = member.1.map { .int(Int64($0)) } ?? .null }
            object = .object(members)
        }
        return object
    }

    /// The lines for a terminal, without a prefix.
    package func lines(hasHint: Bool = true) -> [String] {
        [message] + candidates.map { "  \($0.printable)" }
            + (hasHint ? hint.map { [Style.dim.around("hint: \($0)")] } ?? [] : [])
    }
}

/// The error numbers of a server, for programs.
package struct ServerCodes: Hashable, Sendable {
    /// The HTTP status, if the server answered.
    var httpStatus: Int?
    /// The server's own error number.
    var serverCode: Int?
    /// The corresponding number of the AllWebID SDK.
    var legacyCode: Int?

    package var members: [(String, Int?)] {
        [("httpStatus", httpStatus), ("serverCode", serverCode), ("legacyCode", legacyCode)]
    }
}
