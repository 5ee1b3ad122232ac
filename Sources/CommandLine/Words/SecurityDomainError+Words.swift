// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKSecurityDomain
import YKTransport
import YKWire

extension SecurityDomainError: Explained {
    package var explanation: Explanation {
        switch self {
        case .card(let error): error.explanation
        case .hostNotAuthenticated:
            Explanation(
                "scp-required", .authentication,
                "the keys of the Security Domain can be changed only through a secure channel",
                hint: "--scp 03 with --scp-keys FILE, or --scp 11a with --scp-oce FILE")
        case .noDataEncryptionKey:
            Explanation(
                "scp-no-dek", .authentication,
                "to store a secret key, the SCP03 set of the channel needs its third key",
                hint: "give ENC:MAC:DEK with --scp-keys FILE")
        case .channelOpen: .usage("a reset is not possible through a secure channel", hint: "omit --scp")
        case .noReset:
            Explanation(
                "not-supported", .notSupported,
                "this card is not a YubiKey: its keys would be permanently blocked, not reset; nothing was changed")
        case .noSuchKey(let key):
            Explanation("no-such-key", .notFound, "the key has no \(key.typed)", hint: "ykit sd keys list")
        case .full:
            Explanation(
                "full", .failed, "the key has no room for another key; it holds at most three SCP03 sets",
                hint: "delete one: ykit sd keys delete KEY")
        case .wouldDeleteLast:
            Explanation("last-key", .policy, "this would delete the last key", hint: "ykit sd reset")
        case .refused(let key):
            Explanation(
                "refused", .failed, "the key refused \(key.typed)",
                hint: "if one exists, replace it with --replace VERSION; ykit sd keys list")
        case .wrongCheckValue(let key):
            Explanation(
                "check-value", .failed, "the key did not store \(key.typed) as sent",
                hint: "delete it: ykit sd keys delete \(key.typed)")
        case .badReference(let why), .badKey(let why): .usage(why)
        case .resetIncomplete(_, .ok):
            Explanation(
                "reset-incomplete", .failed, "after the reset the key does not have the factory keys",
                hint: "run 'ykit sd reset' again; ykit sd keys list")
        case .resetIncomplete(let key, let status):
            Explanation(
                "reset-incomplete", .failed, "the key refused to block \(key.typed): \(status)",
                hint: "see what is left: ykit sd keys list")
        case .resetUnchecked(let cause):
            cause.explanation.unfinished(
                "every key was blocked, but the keys that exist now could not be read", hint: "ykit sd keys list")
        case .crypto(let fault): fault.explanation
        }
    }
}
