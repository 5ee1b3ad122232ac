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
                "application-missing", .notSupported, "this key has no management application: it is not a YubiKey",
                hint: "ykit info shows what the key is")
        case .card(let error): error.explanation
        case .nfcRestricted:
            // It shows only its tag, as it is shipped and after `ykit config nfc --restrict`.
            Explanation(
                "nfc-restricted", .policy,
                "this YubiKey is in its NFC restricted mode, as from the factory or after 'ykit config nfc --restrict': "
                    + "over NFC its applications are hidden until it has been plugged into a USB port",
                hint:
                    "plug it into any USB port once, for three seconds, then hold it to the reader and repeat the command"
            )
        case .fido(let error, _): error.explanation
        case .otp(let error, let command): error.explanation(during: command)
        case .malformed(let error, let command):
            .malformedReply("the key's reply to \(command) violates the protocol: \(error)")
        case .endlessInfo: .malformed("the key announces more device information than the protocol allows")
        case .notOverThisLink(let command):
            Explanation(
                "not-over-this-link", .notSupported, "\(command) requires the smart card interface",
                hint: "--link pcsc")
        case .locked:
            Explanation(
                "locked", .authentication, "the configuration of this key is locked",
                hint: "give the lock code at the prompt, or with --lock-code-stdin, --lock-code-fd N or YKIT_LOCK_CODE")
        case .notLocked:
            Explanation("not-locked", .usage, "this key has no lock code", hint: "omit it")
        case .wrongLockCode:
            Explanation(
                "lock-code-wrong", .authentication, "the key refused the change: the lock code is wrong",
                hint: "nothing was changed; attempts are not limited, so try another code")
        case .badLockCode:
            Explanation(
                "bad-lock-code", .usage, "a lock code consists of 32 hexadecimal digits that are not all zero",
                hint: "'ykit config lock-code --generate' generates one; --clear removes it")
        case .tooOld(let version, let needed):
            Explanation(
                "not-supported", .notSupported, "this requires firmware \(needed); the key has \(version)",
                hint: needed.major == 5 && needed.minor == 0 ? "ykit config mode switches the interfaces" : nil)
        case .notThere(let applications, let transport):
            Explanation(
                "not-there", .notSupported,
                "this key has no \(applications.sentence) over \(transport.rawValue.uppercased())",
                hint: "ykit info shows what the key offers")
        case .lastApplication:
            Explanation(
                "last-application", .policy, "with all USB applications off, the key could not be reconfigured",
                hint: "leave at least one application enabled")
        case .noNFC: Explanation("no-nfc", .notSupported, "this key has no NFC")
        case .resetBlocked(let holding):
            Explanation(
                "reset-blocked", .policy,
                "applications of this key can be enabled or disabled only after a reset; \(holding.sentence) still store data",
                hint: "ykit config reset, which deletes everything")
        case .notWritten(let what):
            Explanation(
                "not-written", .failed,
                "the key accepted the change, but does not report it for \(what.listed())",
                hint: "re-insert the key and check with 'ykit info'")
        case .unchecked(let cause):
            cause.explanation.unfinished(
                "the change is written, but could not be checked", hint: "ykit info shows the configuration")
        case .touchEjectNeedsCCID:
            Explanation("touch-eject", .usage, "ejection by touch requires the mode CCID")
        case .noSuchMode(let mode, let interfaces):
            Explanation(
                "no-such-mode", .notSupported, "this key does not support the mode \(mode); it has \(interfaces)")
        case .noWholeReset:
            Explanation(
                "no-whole-reset", .notSupported, "this key does not support resetting all applications at once",
                hint: "reset the applications one by one: ykit fido2 reset, ykit oath reset, …")
        }
    }
}

extension OTPLinkError {
    fileprivate func explanation(during command: String) -> Explanation {
        switch self {
        case .device(let error): error.explanation
        case .card(let error): error.explanation
        case .malformed(let error): .malformed("the key's reply to \(command) violates the protocol: \(error)")
        case .notTouched: Explanation("not-touched", .timeOut, "the key was not touched in time")
        case .rejected: Explanation("refused", .failed, "the key refused \(command)")
        }
    }
}
