// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKManagement
import YKTransport
import YKWire

extension ManagementError: Explained {
    package var explanation: Explanation {
        switch self {
        case .card(.appletMissing(_)):
            Explanation(
                "application-missing", .notSupported, "this key has no management application, it is not a YubiKey",
                hint: "ykit info shows what the key is")
        case .card(let error): error.explanation
        case .nfcRestricted:
            // It shows only its tag, as it is shipped and after `ykit config nfc --restrict`.
            Explanation(
                "nfc-restricted", .policy,
                "this YubiKey is in its NFC restricted mode, as from the factory or after 'ykit config nfc --restrict': "
                    + "a reader finds none of its applications until it was in a USB port",
                hint:
                    "plug it into any USB port once, for three seconds, then hold it to the reader and repeat the command"
            )
        case .fido(let error, _): error.explanation
        case .otp(let error, let command): error.explanation(during: command)
        case .malformed(let error, let command):
            .malformedReply("the key's reply to \(command) does not follow the protocol: \(error)")
        case .endlessInfo: .malformed("the key announces more device information than there can be")
        case .notOverThisLink(let command):
            Explanation(
                "not-over-this-link", .notSupported, "\(command) goes over the smart card interface only",
                hint: "--link pcsc")
        case .locked, .notLocked, .wrongLockCode, .badLockCode: aboutLock
        default: aboutConfiguration
        }
    }

    private var aboutLock: Explanation {
        switch self {
        case .locked:
            Explanation(
                "locked", .authentication, "the configuration of this key is locked",
                hint: "give the lock code: by prompt, --lock-code-stdin, --lock-code-fd N or YKIT_LOCK_CODE")
        case .notLocked:
            Explanation("not-locked", .usage, "this key has no lock code, so none can be given", hint: "omit it")
        case .wrongLockCode:
            Explanation(
                "lock-code-wrong", .authentication, "the key refused the change, the lock code is wrong",
                hint: "nothing was changed; no tries are counted, so try another")
        default:
            Explanation(
                "bad-lock-code", .usage, "a lock code is 32 hexadecimal digits, not all zero",
                hint: "ykit config lock-code --generate makes one; --clear removes it")
        }
    }

    private var aboutConfiguration: Explanation {
        switch self {
        case .tooOld(let version, let needed):
            Explanation(
                "not-supported", .notSupported, "this takes firmware \(needed), the key has \(version)",
                hint: needed.major == 5 && needed.minor == 0 ? "ykit config mode switches the interfaces" : nil)
        case .notThere(let applications, let transport):
            Explanation(
                "not-there", .notSupported,
                "this key has no \(applications.sentence) over \(transport.rawValue.uppercased())",
                hint: "ykit info shows what the key offers")
        case .lastApplication:
            Explanation(
                "last-application", .policy, "with all of USB off nothing could switch anything on again",
                hint: "leave at least one application on")
        case .noNFC: Explanation("no-nfc", .notSupported, "this key has no NFC")
        case .resetBlocked(let holding):
            Explanation(
                "reset-blocked", .policy,
                "applications of this key can be switched only after a reset; \(holding.sentence) still hold something",
                hint: "ykit config reset, which deletes everything")
        case .notWritten(let what):
            Explanation(
                "not-written", .failed,
                "the key took the change, but does not say so of \(what.listed())",
                hint: "take it out, insert it again and look with ykit info")
        case .touchEjectNeedsCCID:
            Explanation("touch-eject", .usage, "ejection by touch is for mode CCID alone")
        case .noSuchMode(let mode, let interfaces):
            Explanation("no-such-mode", .notSupported, "this key cannot be \(mode), it has \(interfaces)")
        default:
            Explanation(
                "no-whole-reset", .notSupported, "this key has no reset of everything at once",
                hint: "reset one application after the other: ykit fido2 reset, ykit oath reset, …")
        }
    }
}

extension OTPLinkError {
    fileprivate func explanation(during command: String) -> Explanation {
        switch self {
        case .device(let error): error.explanation
        case .card(let error): error.explanation
        case .malformed(let error): .malformed("the key's reply to \(command) does not follow the protocol: \(error)")
        case .notTouched: Explanation("not-touched", .timeOut, "the key was not touched in its time")
        case .rejected: Explanation("refused", .failed, "the key refused \(command)")
        }
    }
}
