// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKTransport

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
