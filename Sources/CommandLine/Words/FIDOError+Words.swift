// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKFIDO
import YKTransport
import YKWire

extension FIDOError: Explained {
    package var explanation: Explanation {
        switch self {
        case .ctap(let error): error.explanation
        case .unsupported(let what): lacking(what)
        case .wrongPIN, .pinNeedsPowerCycle, .pinBlocked, .pinNeeded, .pinNotSet, .pinAlreadySet, .pinChangeForced:
            aboutPIN
        case .unsuitablePIN(let problem): problem.explanation
        case .u2fPIN(let problem): problem.explanation
        case .pinRefused:
            Explanation(
                "pin-refused", .policy, "the key refused this PIN: too simple, or it was used before",
                hint: "choose another; 'ykit fido2 info' shows the key's rules")
        case .userNotRecognised, .userVerificationBlocked: aboutVerification
        case .largeBlobs(let problem): problem.explanation
        case .verification(let problem): problem.explanation
        default: aboutCeremony
        }
    }

    private var aboutCeremony: Explanation {
        switch self {
        case .touchTimeout: .notTouched
        case .denied:
            // Keys without a display return this if nobody touched them (CTAP 2.2 §6.1.2, §6.2.2).
            Explanation(
                "denied", .timeOut, "the key was not touched in time, or the request was refused on it",
                hint: "repeat the command and touch the key while it blinks")
        case .noCredentials:
            Explanation(
                "no-credentials", .notFound, "the key has no credential for this",
                hint: "'ykit fido2 credentials list' shows what the key stores; other credentials need --credential ID"
            )
        case .credentialExcluded:
            Explanation(
                "excluded", .policy, "the key has one of the excluded credentials already",
                hint: "use that one, or another key")
        case .full:
            Explanation(
                "full", .failed, "there is no room for another credential",
                hint: "delete one: ykit fido2 credentials delete ID")
        case .notAllowed(let command): refused(command)
        case .notApplied(let what):
            Explanation(
                "not-applied", .failed, "the key accepted the change, but did not make it: \(what)",
                hint: "'ykit fido2 config list' shows how the key is set")
        default: Explanation("failed", .failed, "\(self)")
        }
    }

    private func refused(_ command: String) -> Explanation {
        if command == "reset" || command == "U2F RESET" {
            let verb = command == "reset" ? "fido2 reset" : "u2f reset"
            return Explanation(
                "too-late", .policy, "the key allows a reset only in the first seconds after it was plugged in",
                hint: "ykit \(verb) --reinsert, which waits for the key to be taken out and inserted again")
        }
        return Explanation(
            "not-allowed", .policy, "the key does not allow \(command) now",
            hint: "another program used the key in between, or the key must be plugged in again: repeat the command")
    }

    // MARK: - PIN and user verification

    private var aboutPIN: Explanation {
        switch self {
        case .wrongPIN(let retries): wrong(retries)
        case .pinNeedsPowerCycle:
            Explanation(
                "pin-needs-replug", .blocked,
                "too many wrong PINs in a row: the key accepts no PIN until it is unplugged and plugged in again",
                hint: "unplug the key, plug it in again, and give the right PIN; that uses up no retry")
        case .pinBlocked:
            Explanation(
                "pin-blocked", .blocked, "no tries of the FIDO2 PIN are left: it is blocked for good",
                hint: "only 'ykit fido2 reset' helps, which deletes all credentials of this key", retriesLeft: 0)
        case .pinNotSet:
            Explanation(
                "pin-not-set", .authentication, "this needs a PIN, and none is set on the key",
                hint: "ykit fido2 pin set")
        case .pinAlreadySet:
            Explanation("pin-set", .policy, "a PIN is set already", hint: "ykit fido2 pin change")
        case .pinChangeForced:
            Explanation(
                "pin-change-forced", .authentication, "the PIN has to be changed before the key does anything else",
                hint: "ykit fido2 pin change")
        default:
            Explanation(
                "pin-needed", .authentication, "the key needs its FIDO2 PIN for this",
                hint:
                    "give it with --pin-stdin, --pin-fd N, YKIT_FIDO_PIN or YKIT_PIN; if none is set: ykit fido2 pin set"
            )
        }
    }

    private func wrong(_ retries: PINRetries?) -> Explanation {
        guard let retries else {
            return Explanation(
                "pin-wrong", .authentication, "wrong FIDO2 PIN", hint: "it was not tried again: ykit fido2 pin retries")
        }
        if retries.count == 0 { return Self.pinBlocked.explanation }
        let tries = Tries.areLeft(retries.count)
        let hint =
            retries.needsPowerCycle
            ? "unplug the key and plug it in again before the next try"
            : retries.count == 1
                ? "be sure of it: another wrong PIN blocks the key for good"
                : "it was not tried again; three wrong ones in a row and the key has to be taken out"
        return Explanation(
            "pin-wrong", .authentication, "wrong FIDO2 PIN, \(tries)", hint: hint, retriesLeft: retries.count)
    }

    private var aboutVerification: Explanation {
        if case .userVerificationBlocked = self {
            return Explanation(
                "uv-blocked", .blocked, "the key's own verification is blocked",
                hint: "the PIN unblocks it: ykit fido2 pin verify")
        }
        return Explanation(
            "uv-failed", .authentication, "the key did not recognise you", hint: "try again, or give the PIN")
    }

    // MARK: - The rest

    private func lacking(_ what: String) -> Explanation {
        let names = [
            "FIDO2": "this key supports only U2F, not FIDO2", "U2F_V2": "this key does not support U2F",
            "U2F PIN": "only a YubiKey FIPS of the 4 series has a U2F PIN, and a reset of U2F alone",
            "clientPin": "this key has no PIN", "rk": "this key does not store credentials",
            "uv": "this key cannot verify its user", "credMgmt": "this key cannot list its credentials",
            "bioEnroll": "this key has no fingerprint sensor", "authnrCfg": "this key cannot be configured",
            "largeBlobs": "this key does not keep large blobs", "ep": "this key has no enterprise attestation",
            "alwaysUv": "this key cannot be made to always verify its user",
            "setMinPINLength": "this key cannot be told the shortest PIN",
            "perCredMgmtRO": "this key issues no persistent token",
        ]
        return Explanation(
            "not-supported", .notSupported, names[what] ?? "this key does not have \(what.printable)",
            hint: "ykit fido2 info shows what it has")
    }
}

extension PINProblem {
    package var explanation: Explanation {
        switch self {
        case .tooShort(let length, let minimum):
            Explanation(
                "pin-too-short", .policy, "a PIN of \(length) characters is too short, this key requires \(minimum)",
                hint: "nothing was sent to the key; give a longer one")
        case .tooLong(let length, let maximum):
            Explanation(
                "pin-too-long", .policy, "a PIN of \(length) bytes is too long, this key accepts \(maximum)",
                hint: "nothing was sent to the key; give a shorter one")
        case .endsWithZero:
            Explanation(
                "pin-unsuitable", .policy, "a PIN cannot end with a zero byte",
                hint: "nothing was sent to the key; give another one")
        }
    }
}

extension FIDOError.U2FPINProblem {
    /// The U2F PIN of a YubiKey 4 FIPS.
    package var explanation: Explanation {
        switch self {
        case .wrong:
            Explanation(
                "pin-wrong", .authentication, "wrong U2F PIN",
                hint: "it was not tried again; after three wrong ones in a row only 'ykit u2f reset' helps")
        case .blocked:
            Explanation(
                "pin-blocked", .blocked, "no tries of the U2F PIN are left: it is blocked for good",
                hint: "only 'ykit u2f reset' helps, which deletes all U2F credentials of this key", retriesLeft: 0)
        case .notSet:
            Explanation("pin-not-set", .authentication, "no U2F PIN is set on the key", hint: "ykit u2f pin set")
        case .alreadySet: Explanation("pin-set", .policy, "a U2F PIN is set already", hint: "ykit u2f pin change")
        case .badLength(let count):
            Explanation(
                count < U2F.pinLengths.lowerBound ? "pin-too-short" : "pin-too-long", .policy,
                "a U2F PIN has \(U2F.pinLengths.lowerBound) to \(U2F.pinLengths.upperBound) bytes, this one has \(count)",
                hint: "nothing was sent to the key; give another one")
        case .needed:
            Explanation(
                "pin-needed", .authentication, "the key makes no U2F key pair before its U2F PIN is given",
                hint: "ykit u2f pin verify, once after the key was plugged in")
        }
    }
}

extension FIDOError.LargeBlobProblem {
    package var explanation: Explanation {
        switch self {
        case .damaged:
            .malformed("the key's large blobs are damaged", hint: "ykit fido2 large-blob set writes them again")
        case .tooLarge(let bytes, let limit):
            Explanation(
                "full", .failed, "the large blobs would take \(bytes) bytes, the key keeps \(limit)",
                hint: "ykit fido2 large-blob prune removes blobs that belong to no credential")
        case .unreadable:
            .malformed("the large blob cannot be read", hint: "ykit fido2 large-blob set writes it again")
        }
    }
}
