// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
import YKProtocols
package import YKTransport
import YKWire

extension SecureChannelFault: Explained {
    package var explanation: Explanation {
        switch self {
        case .unsupported(let aid):
            Explanation(
                "scp-unsupported", .notSupported,
                "the \(aid.title) application of this key does not support secure channels",
                hint: "SCP03 requires firmware 5.3 or later, SCP11 5.7.2; omit --scp to use it unprotected")
        case .noSuchKey(let key):
            Explanation(
                "scp-no-such-key", .notFound, "the key has no secure channel key \(key.words)",
                hint: "ykit sd info lists the keys of the Security Domain")
        case .blocked(let key):
            Explanation(
                "scp-blocked", .blocked, "the secure channel key \(key.words) is blocked",
                hint: "another key of the Security Domain can delete it; 'ykit sd reset' deletes all of them",
                retriesLeft: 0)
        case .wrongKeys(let key):
            Explanation(
                "scp-keys-wrong", .authentication,
                "these are not the keys of \(key.words); the key deletes the set after 65 failed attempts in a row",
                hint: "choose another set with --scp 03,VERSION; ykit sd info lists them")
        case .wrongReceipt(let key):
            Explanation(
                "scp-not-authentic", .authentication,
                "the key did not prove that it has the private key \(key.words) of its certificate")
        case .hostRefused(let key, let status):
            Explanation(
                "scp-refused", .authentication, "the key refused to open a secure channel with \(key.words): \(status)"
            )
        case .certificateRefused(let index, let status):
            Explanation(
                "scp-certificate-refused", .authentication,
                "the key refused certificate \(index + 1) of the host's chain: \(status)",
                hint: "it must be issued by the CA key that --scp-oce names, and be on that key's allow list, if any"
            )
        case .noCertificate(let key):
            Explanation(
                "scp-no-certificate", .notFound, "the key has no certificate for \(key.words)",
                hint: "store one with 'ykit sd keys import', or give the public key itself with --scp-card-key FILE")
        case .untrusted(let reason):
            Explanation("scp-untrusted", .policy, "the key's certificate is not trusted: \(reason)")
        case .ended:
            Explanation(
                "scp-ended", .failed, "the secure channel is closed after a failure; nothing more was sent",
                hint: "repeat the command")
        case .unprotected:
            .usage("these bytes would be sent unprotected", hint: "omit --scp, or write the command without --send")
        case .badHostKey(let reason): .usage(reason)
        case .notAuthentic:
            Explanation(
                "scp-not-authentic", .authentication,
                "a reply of the key is not authentic, so the secure channel was closed",
                hint: "the last command may or may not have taken effect; check the key's state before repeating it")
        }
    }
}

extension SCPKeyReference {
    /// Describes a KID and KVN.
    fileprivate var words: String {
        let name =
            switch id {
            case 0x01...0x03: "SCP03"
            case 0x10, 0x20...0x2F: "CA 0x\(Hex.encode([id]))"
            case 0x11: "SCP11a"
            case 0x13: "SCP11b"
            case 0x15: "SCP11c"
            case let id: "0x\(Hex.encode([id]))"
            }
        return version == 0 ? name : "\(name) version 0x\(Hex.encode([version]))"
    }
}
