// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKToken
import YKTransport
import YKWire

extension TokenError: Explained {
    package var explanation: Explanation {
        switch self {
        case .malformed(let error):
            // The length of the whole is wrong at no byte.
            .malformed("this is not a Yubico OTP: \(error.code == .malformed ? "\(error)" : error.reason)")
        case .otherPublicID(let id):
            Explanation(
                "other-key", .authentication,
                "the password is of the key '\(Modhex.encode(id))', not of the expected one")
        case .wrongKey:
            Explanation(
                "key-wrong", .authentication,
                "the AES key does not open the password: another key, or a letter is wrong",
                hint: "on another keyboard layout letters of a password come out wrong")
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
        case .inUse(let path): Explanation("store", .busy, "another program uses \(path)", hint: "repeat the command")
        case .unreadable(let path, let reason, let number):
            Explanation("store", ExitStatus(errno: number), "cannot read \(path): \(reason)")
        case .unwritable(let path, let reason, let number):
            Explanation("store", ExitStatus(errno: number), "cannot write \(path), so nothing is accepted: \(reason)")
        case .broken(let path, let reason):
            Explanation(
                "store", .malformed, "\(path) is damaged, so nothing is accepted: \(reason)",
                hint: "without it passwords that were used would be accepted again: mend it, or take it away knowingly")
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
                hint: "is it of a key that the server knows, and complete? some servers sign this refusal with no key, "
                    + "so anybody could have sent it")
        case .badReplySignature(let server):
            Explanation(
                "reply-not-signed", .authentication,
                "the reply of \(server.printable) is not signed with the client's key",
                hint: "the API key may be of another client; else somebody else answered or changed the reply")
        case .otherReply(let server):
            Explanation(
                "other-reply", .authentication,
                "\(server.printable) answered another question than the one that was asked")
        case .malformed(let error, let server): .malformed("the reply of \(server.printable) cannot be read: \(error)")
        case .http(let status, let server):
            Explanation("server", .failed, "\(server.printable) answered with HTTP status \(status)")
        case .unreachable(let server, let reason):
            Explanation("server", .failed, "\(server.printable) cannot be asked: \(reason)")
        case .unprotected(let server):
            Explanation(
                "unprotected", .policy, "anybody could answer for \(server.printable)",
                hint: "use https://, or give the key of the client that the server signs with")
        case .link(let error): error.explanation
        case .noServer: .usage("there is no server to ask")
        }
    }

    private func refusal(_ status: ValidationStatus, _ server: String) -> Explanation {
        let code = status.rawValue.lowercased().replacing("_", with: "-").printable
        let said = "\(server.printable) says \(status.rawValue.printable)"
        return switch status {
        case .badOTP: Explanation(code, .authentication, "\(said): no such password can be")
        case .replayedOTP:
            Explanation(
                code, .authentication, "\(said): the password was used before", hint: "touch the key for a new one")
        case .replayedRequest:
            Explanation(
                code, .authentication, "\(said): the same question was answered before",
                hint: "touch the key and repeat")
        case .badSignature, .noSuchClient, .operationNotAllowed:
            Explanation(code, .authentication, said, hint: "look at --client and at the client's key")
        default: Explanation(code, .failed, said)
        }
    }
}
