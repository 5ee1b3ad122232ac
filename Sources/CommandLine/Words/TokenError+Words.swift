// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKToken
import YKTransport
import YKWire

extension TokenError: Explained {
    package var explanation: Explanation {
        switch self {
        case .malformed(let error):
            // A wrong total length has no byte position.
            .malformed("this is not a Yubico OTP: \(error.code == .malformed ? "\(error)" : error.reason)")
        case .otherPublicID(let id):
            Explanation(
                "other-key", .authentication,
                "the password comes from the key '\(Modhex.encode(id))', not from the expected one")
        case .wrongKey:
            Explanation(
                "key-wrong", .authentication,
                "the AES key does not decrypt the password: it belongs to another key, or a letter is wrong",
                hint: "a different keyboard layout changes letters of a password")
        case .otherPrivateID:
            Explanation(
                "other-private-id", .authentication, "the private identity in the password is not the expected one")
        case .replayed(let counter, let last):
            Explanation(
                "replayed", .authentication,
                "the password (use \(counter.use).\(counter.session)) is not newer than the last accepted one "
                    + "(use \(last.use).\(last.session))", hint: "touch the key for a new one")
        case .store(let error): error.explanation
        case .crypto(let fault): .usage("\(fault)")
        }
    }
}

extension CounterFileError: Explained {
    package var explanation: Explanation {
        switch self {
        case .file(.unwritable(let path, let cause)):
            Explanation(
                "store", ExitStatus(errno: cause.number),
                "cannot write \(path.printable), so no password is accepted: \(cause.reason)")
        case .file(.tooLarge(let path, let limit)):
            CounterFileError.broken(path: path, reason: "it has more than \(limit >> 20) MiB").explanation
        case .file(let error): error.explanation
        case .broken(let path, let reason):
            Explanation(
                "store", .malformed, "\(path) is damaged, so no password is accepted: \(reason)",
                hint: "repair it; without it, used passwords would be accepted again, so delete it only on purpose")
        }
    }
}

extension OTPValidationError: Explained {
    package var explanation: Explanation {
        switch self {
        case .refused(let status, let server): refusal(status, server)
        case .unsignedRefusal(let status, let server):
            Explanation(
                "otp-refused", .authentication,
                "\(server.printable) rejects the password (\(status.rawValue.printable)), in a reply that is not signed",
                hint:
                    "check that it is complete and from a key that the server knows; some servers do not sign this refusal, "
                    + "so anyone could have sent it")
        case .badReplySignature(let server):
            Explanation(
                "reply-not-signed", .authentication,
                "the reply of \(server.printable) is not signed with the client's key",
                hint: "the API key may belong to another client; otherwise the reply was forged or modified")
        case .otherReply(let server):
            Explanation(
                "other-reply", .authentication,
                "\(server.printable) answered a different request")
        case .malformed(let error, let server): .malformed("the reply of \(server.printable) cannot be read: \(error)")
        case .http(let status, let server):
            Explanation("server", .failed, "\(server.printable) answered with HTTP status \(status)")
        case .unreachable(let server, let reason):
            Explanation("server", .failed, "\(server.printable) cannot be reached: \(reason)")
        case .unprotected(let server):
            Explanation(
                "unprotected", .policy, "the replies of \(server.printable) would not be authenticated",
                hint: "use https://, or give the API key with which the server signs")
        case .link(let error): error.explanation
        case .noServer: .usage("no server is given")
        }
    }

    private func refusal(_ status: ValidationStatus, _ server: String) -> Explanation {
        let code = status.rawValue.lowercased().replacing("_", with: "-").printable
        let said = "\(server.printable) says \(status.rawValue.printable)"
        guard let (why, hint) = Self.refusals[status] else { return Explanation(code, .failed, said) }
        return Explanation(code, .authentication, said + why, hint: hint)
    }

    private static let refusals: [ValidationStatus: (why: String, hint: String?)] = [
        .badOTP: (": the password is malformed", nil),
        .replayedOTP: (": the password was used before", "touch the key for a new one"),
        .replayedRequest: (": the same request was answered before", "touch the key and repeat"),
        .badSignature: ("", "check --client and the client's API key"),
        .noSuchClient: ("", "check --client and the client's API key"),
        .operationNotAllowed: ("", "check --client and the client's API key"),
    ]
}
