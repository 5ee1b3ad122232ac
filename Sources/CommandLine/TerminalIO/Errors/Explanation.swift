// SPDX-License-Identifier: Apache-2.0

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
    package var candidates: [Candidate]
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
        self.candidates = candidates.map { Candidate($0) }
    }

    /// Creates the explanation of an invalid command line.
    package static func usage(_ message: String, hint: String? = nil) -> Explanation {
        Explanation("usage", .usage, message, hint: hint)
    }

    /// Creates the explanation of a malformed reply or input.
    package static func malformed(_ message: String, hint: String? = nil) -> Explanation {
        Explanation("malformed", .malformed, message, hint: hint)
    }

    /// The explanation of ^C.
    package static let interrupted = Explanation("interrupted", .interrupted, "interrupted")

    /// Returns the explanation of a failure in the middle of a change: what was changed follows the cause.
    package func unfinished(_ changed: String, hint: String? = nil) -> Explanation {
        var explanation = self
        explanation.code = "unfinished"
        explanation.retriesLeft = nil
        explanation.message += "; " + changed
        explanation.hint = hint
        return explanation
    }

    /// Returns the explanation with the key that refused a credential.
    func of(key: String) -> Explanation {
        guard exit == .authentication || exit == .blocked else { return self }
        var explanation = self
        explanation.message += " (key \(key.printable))"
        return explanation
    }

    /// The message and the hint as one sentence.
    package var inOneLine: String { hint.map { "\(message); \($0)" } ?? message }

    /// The lines for a terminal, without a prefix.
    package func lines(hasHint: Bool = true) -> [String] {
        [message] + candidates.map { "  \($0.line.printable)" }
            + (hasHint ? hint.map { [Style.dim.around("hint: \($0)")] } ?? [] : [])
    }
}

/// The member `error` of an answer.
extension Explanation: Report {
    package static let members: [Member<Explanation>] =
        [
            Member("code", "a stable identifier") { $0.code },
            Member("message", "for people") { $0.message },
            Member("hint", "what to do, for people") { $0.hint },
            Member("retriesLeft") { $0.retriesLeft },
            Member("exitCode") { Int($0.exit.rawValue) },
            Member(ifKnown: "candidates", "what to choose from") { $0.candidates.isEmpty ? nil : $0.candidates },
        ] + including(ifKnown: { $0.server })
}

/// One of several things to choose from.
package struct Candidate: Hashable, Sendable {
    /// How a key is reached; unknown values are `nil`.
    package struct Key: Hashable, Sendable {
        let serial: String?
        let name: String?
        let reader: String?
        let path: String?
        let transport: String

        package init(serial: String?, name: String?, reader: String? = nil, path: String? = nil, transport: String) {
            (self.serial, self.name, self.transport) = (serial, name, transport)
            (self.reader, self.path) = (reader, path)
        }
    }

    /// The line for people.
    package let line: String
    /// What a key is.
    let key: Key?

    package init(_ line: String, key: Key? = nil) { (self.line, self.key) = (line, key) }
}

extension Candidate: Report {
    package static let members: [Member<Candidate>] = [
        Member("name", "null for a key whose name is not known") { $0.key == nil ? $0.line : $0.key?.name },
        Member(ifKnown: "serial", "of a key") { $0.key.map(\.serial) },
        Member(ifKnown: "reader", "of a key: its name for --reader") { $0.key.map(\.reader) },
        Member(ifKnown: "path", "of a key: its node or port for --path") { $0.key.map(\.path) },
        Member(ifKnown: "transport", "of a key: pcsc, hid or usb") { $0.key?.transport },
    ]
}

/// The error numbers of a server, for programs.
package struct ServerCodes: Hashable, Sendable {
    /// The HTTP status, if the server answered.
    package var httpStatus: Int?
    /// The server's own error number.
    package var serverCode: Int?
    /// The corresponding number of the AllWebID SDK.
    package var legacyCode: Int?

    package init(httpStatus: Int? = nil, serverCode: Int? = nil, legacyCode: Int? = nil) {
        (self.httpStatus, self.serverCode, self.legacyCode) = (httpStatus, serverCode, legacyCode)
    }
}

extension ServerCodes: Report {
    package static let members: [Member<ServerCodes>] = [
        Member("httpStatus", "null if the server did not answer") { $0.httpStatus },
        Member("serverCode") { $0.serverCode },
        Member("legacyCode", "the number of the AllWebID SDK") { $0.legacyCode },
    ]
}

extension Explanation {
    /// The key was not touched in time.
    package static let notTouched = Explanation(
        "not-touched", .timeOut, "the key was not touched in time",
        hint: "repeat the command and touch the key while it blinks")

    /// The management key of PIV is public.
    package static let defaultManagementKey = Explanation(
        "management-key-default", .policy,
        "the management key is still the factory default; set another one with "
            + "'ykit piv access change-management-key --generate --protect'")

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
