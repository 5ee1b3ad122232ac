// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKHTTP
package import YKTransport

extension ServerError: Explained {
    package var explanation: Explanation {
        switch self {
        case .http(let error): error.explanationWithTrust
        case .refused(let status, let code, let message): Self.refusal(status, code, message.printable)
        case .status(let status): Self.with(status, nil, Self.withoutReason(status))
        case .malformed(let reason):
            .malformed(
                "the server's answer cannot be used: \(reason.printable)",
                hint: "check the address: it must be that of privacyIDEA's web page")
        case .signature:
            Explanation(
                "signature", .malformed, "the server's answer is not signed with the given audit key",
                hint: "another server may have answered, or the server has a new key; ask its operator")
        case .random: .random
        }
    }

    /// Explains a status from a proxy or another server.
    private static func withoutReason(_ status: Int) -> Explanation {
        guard status >= 500 else {
            return Explanation(
                "not-privacyidea", .server, "the server answered with HTTP status \(status) and no reason",
                hint: "check the address: it must be that of privacyIDEA's web page")
        }
        guard 502...504 ~= status else {
            return Explanation("server", .failed, "the server failed (HTTP status \(status))")
        }
        return Explanation(
            "server", .failed, "the server is unavailable (HTTP status \(status))", hint: "repeat the command later")
    }

    private static func refusal(_ status: Int, _ code: Int, _ message: String) -> Explanation {
        let said = message.isEmpty ? "" : ": \(message)"
        let explanation =
            switch (status, code) {
            case (_, 904):
                Explanation("no-such-user", .notFound, "the server has no such user\(said)")
            case (401, _):
                Explanation(
                    "credentials", .authentication, "the server did not accept the login\(said)",
                    hint: "check the user name, password or API key; a session lasts an hour or so")
            case (403, _):
                Explanation(
                    "forbidden", .policy, "the server's policy forbids this\(said)", hint: "ask the server's operator"
                )
            case (404, _): Explanation("not-found", .notFound, "the server does not have that\(said)")
            case (409, _):
                Explanation(
                    "conflict", .failed, "someone else changed it at the same time", hint: "repeat the command")
            case (500..., _): Explanation("server", .failed, "the server failed (HTTP status \(status))")
            case (400, 3000...3002): container(code, "the server refused\(said)")
            case (_, let code): Explanation("refused", .failed, "the server refused (\(code))\(said)")
            }
        return with(status, code, explanation)
    }

    private static func with(_ status: Int?, _ code: Int?, _ explanation: Explanation) -> Explanation {
        var explanation = explanation
        explanation.server = ServerCodes(httpStatus: status, serverCode: code)
        return explanation
    }

    /// Explains an error of a container's server (privacyIDEA, errors 3000 to 3002).
    private static func container(_ code: Int, _ words: String) -> Explanation {
        if code == 3001 {
            return Explanation(
                "not-registered", .notFound, words,
                hint: "the container was left or deleted there; register the key again")
        }
        if code == 3002 {
            return Explanation(
                "container-signature", .authentication, words,
                hint:
                    "the answer to its question is wrong, the link has been used, or the container was moved to another key"
            )
        }
        return Explanation(
            "container-refused", .policy, words,
            hint: "the container is already registered, or the server forbids this")
    }
}

extension HTTPError: Explained {
    package var explanation: Explanation {
        switch self {
        case .notInstalled:
            Explanation(
                "curl-missing", .failed, "libcurl, which is required to reach servers, is not installed",
                hint: "sudo apt install libcurl4")
        case .malformed(let reason): .usage(reason.printable)
        case .unreachable(let reason):
            Explanation(
                "server-unreachable", .server, "the server cannot be reached: \(reason.printable)",
                hint: "check the address and the network, then repeat the command")
        case .timedOut:
            Explanation(
                "server-timed-out", .timeOut, "the server did not answer in time",
                hint: "repeat the command later, or allow more time")
        case .cancelled: .interrupted
        case .certificate(let reason):
            Explanation(
                "server-not-trusted", .server, "the server's certificate cannot be verified: \(reason.printable)",
                hint: "nothing was sent; for a private certificate authority, give its certificate as 'authorities'")
        case .pin(let seen):
            Explanation(
                "server-pin", .server,
                "the server's key is not one of the pinned keys; nothing was sent"
                    + (seen.map { "; it is \($0)" } ?? ""),
                hint: "the connection may be intercepted, or the server has a new key; ask its operator")
        case .authorities(let reason): .usage("the trusted authorities cannot be read: \(reason.printable)")
        case .redirected(let place, let status):
            Explanation(
                "redirected", .policy, "the server redirects (\(status)), and redirects are not followed",
                hint: place.isEmpty ? nil : "if you trust it, use that address: \(place.printable)")
        case .tooLarge(let limit):
            .malformed("the server's answer is longer than \(limit) bytes", hint: "check the server's address")
        case .failed(let code, let reason):
            Explanation("http", .failed, "no answer from the server: \(reason.printable) (libcurl \(code))")
        case .link(let error): error.explanation
        }
    }

    /// The explanation for a verb that has `--ca` and `--insecure`.
    var explanationWithTrust: Explanation {
        var explanation = explanation
        if case .redirected = self { explanation.exit = .server }
        if case .failed = self { explanation.exit = .server }
        if case .certificate = self {
            explanation.hint =
                "nothing was sent; name its authority with --ca FILE, or skip verification with --insecure"
        }
        return explanation
    }
}
