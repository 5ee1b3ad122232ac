// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKStore
package import YKTokenStore
package import YKTransport

extension SharedFileError: Explained {
    package var explanation: Explanation {
        switch self {
        case .inUse(let path):
            Explanation("store", .busy, "another program uses \(path.printable)", hint: "repeat the command")
        case .unreadable(let path, let cause):
            Explanation("store", ExitStatus(errno: cause.number), "cannot read \(path.printable): \(cause.reason)")
        case .unwritable(let path, let cause):
            Explanation("store", ExitStatus(errno: cause.number), "cannot write \(path.printable): \(cause.reason)")
        case .tooLarge(let path, let limit):
            StoreError.malformed(path: path, reason: "larger than \(limit >> 20) MiB").explanation
        }
    }
}

extension StoreError: Explained {
    package var explanation: Explanation {
        switch self {
        case .file(let error): error.explanation
        case .malformed(let path, let reason):
            Explanation(
                "store", .malformed, "\(path.printable) is damaged: \(reason.printable)",
                hint: "restore it from a backup")
        case .laterVersion(let path, let version):
            Explanation(
                "store", .malformed,
                "\(path.printable) has version \(version), which this version of ykit does not support",
                hint: "use a later version of ykit")
        case .noKeys:
            Explanation(
                "store-empty", .notFound, "the store is empty", hint: "the first token or account creates its key")
        case .notThisKey:
            Explanation(
                "store-key", .authentication, "this key does not open the store",
                hint: "'store info' lists the keys that do")
        case .notOpened:
            Explanation(
                "store-key", .malformed,
                "the key's secret does not open the store: the file was modified, or the key "
                    + "verified the user in a different way than before")
        case .recordChanged(let id):
            Explanation(
                "store-record", .malformed, "the entry \(id.printable) was modified in the file",
                hint: "restore a backup")
        case .wrongPassphrase: Explanation("wrong-passphrase", .authentication, "the passphrase of the store is wrong")
        case .cannotSeal:
            Explanation(
                "cannot-seal", .notSupported, "this key cannot seal a store: it does not support hmac-secret",
                hint: "use a FIDO2 key, a PIV slot (--slot), or --software")
        case .unfitSlot(let slot):
            Explanation(
                "cannot-seal", .notSupported, "the key in slot \(slot.printable) cannot seal a store",
                hint: "use an RSA or P-256 key")
        case .duplicateKey(let name):
            Explanation("duplicate", .failed, "the store is already sealed for this key ('\(name.printable)')")
        case .noSuchKey(let name):
            Explanation(
                "no-such-key", .notFound, "the store has no key '\(name.printable)'",
                hint: "'store info' lists them")
        case .lastKey:
            Explanation(
                "last-key", .policy, "this is the only key of the store; without it the content is lost",
                hint: "add another one first, with 'store add-key'")
        case .fido(let error): error.explanation
        case .piv(let error): error.explanation
        case .crypto(let fault): fault.explanation
        case .random: .random
        }
    }
}

extension TokenStoreError: Explained {
    package var explanation: Explanation {
        switch self {
        case .store(let error): error.explanation
        case .token(let error): error.explanation
        case .empty:
            Explanation(
                "no-such-token", .notFound, "the store has no tokens", hint: "'ykit securid import' adds one")
        case .noSuchToken:
            Explanation(
                "no-such-token", .notFound, "the store has no such token",
                hint: "'ykit securid list' shows them, 'ykit securid import' adds one")
        case .nicknameTaken(let name):
            Explanation(
                "exists", .policy, "another token has the name '\(name.printable)'", hint: "choose another name")
        case .tooMany(let count, let limit):
            Explanation(
                "too-many", .policy, "the store would hold \(count) tokens, more than \(limit)",
                hint: "delete one, or allow more with --max N")
        case .random: .random
        }
    }
}
