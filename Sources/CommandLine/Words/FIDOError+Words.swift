// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKFIDO

extension FIDOError: Explained {
    package var explanation: Explanation {
        switch self {
        case .ctap(let error): error.explanation
        case .unsupported(let what): lacking(what)
        case .wrongPIN(let retries): wrong(retries)
        case .pinNeedsPowerCycle:
            Explanation(
                "pin-needs-replug", .blocked,
                "too many wrong PINs in a row: the key accepts no PIN until it is unplugged and plugged in again",
                hint: "re-insert the key and enter the correct PIN; re-inserting uses up no try")
        case .pinBlocked:
            Explanation(
                "pin-blocked", .blocked, "the FIDO2 PIN is permanently blocked: no tries are left",
                hint: "only 'ykit fido2 reset' clears this; it deletes all credentials on this key", retriesLeft: 0)
        case .pinNotSet:
            Explanation(
                "pin-not-set", .authentication, "this requires a PIN, and the key has none",
                hint: "ykit fido2 pin set")
        case .pinAlreadySet:
            Explanation("pin-set", .policy, "a PIN is already set", hint: "ykit fido2 pin change")
        case .pinChangeForced:
            Explanation(
                "pin-change-forced", .authentication, "the PIN must be changed before the key can be used",
                hint: "ykit fido2 pin change")
        case .pinNeeded:
            Explanation(
                "pin-needed", .authentication, "the key needs its FIDO2 PIN for this",
                hint:
                    "give it with --pin-stdin, --pin-fd N, YKIT_FIDO_PIN or YKIT_PIN; if none is set: ykit fido2 pin set"
            )
        case .unsuitablePIN(let problem): problem.explanation
        case .u2fPIN(let problem): problem.explanation
        case .pinRefused:
            Explanation(
                "pin-refused", .policy, "the key refused this PIN: it is too simple or was used before",
                hint: "choose another one; 'ykit fido2 info' shows the key's rules")
        case .userVerificationBlocked:
            Explanation(
                "uv-blocked", .blocked, "user verification on the key is blocked",
                hint: "to unblock it with the PIN: ykit fido2 pin verify")
        case .userNotRecognised:
            Explanation(
                "uv-failed", .authentication, "the key did not recognize the user", hint: "try again, or use the PIN")
        case .largeBlobs(let problem): problem.explanation
        case .verification(let problem): problem.explanation
        case .touchTimeout: .notTouched
        case .placementTimeout:
            Explanation(
                "not-touched", .timeOut, "the key was not touched in time",
                hint: "repeat the command and touch the key, or take the card off the reader and put it back")
        case .denied:
            // Keys without a display return this if nobody touched them (CTAP 2.2 §6.1.2, §6.2.2).
            Explanation(
                "denied", .timeOut, "the key was not touched in time, or the request was declined on it",
                hint: "repeat the command and touch the key while it blinks")
        case .noCredentials:
            Explanation(
                "no-credentials", .notFound, "the key has no credential for this",
                hint: "'ykit fido2 credentials list' shows what the key stores; other credentials need --credential ID"
            )
        case .credentialExcluded:
            Explanation(
                "excluded", .policy, "the key already has one of the excluded credentials",
                hint: "use that one, or another key")
        case .full:
            Explanation(
                "full", .failed, "the key has no room for another credential",
                hint: "delete one: ykit fido2 credentials delete ID")
        case .notAllowed(let command): refused(command)
        case .notApplied(let what):
            Explanation(
                "not-applied", .failed, "the key accepted the change, but did not apply it: \(what)",
                hint: "'ykit fido2 config list' shows its settings")
        case .unchecked(let cause):
            cause.explanation.unfinished(
                "the change is made, but could not be checked", hint: "'ykit fido2 config list' shows the settings")
        }
    }

    private func refused(_ command: String) -> Explanation {
        if command == "reset" || command == "U2F RESET" {
            let verb = command == "reset" ? "fido2 reset" : "u2f reset"
            return Explanation(
                "too-late", .policy, "the key allows a reset only within a few seconds of being plugged in",
                hint: "ykit \(verb) --reinsert waits for you to re-insert the key")
        }
        return Explanation(
            "not-allowed", .policy, "the key does not allow \(command) now",
            hint: "another program used the key in the meantime, or the key must be re-inserted; repeat the command")
    }

    private func wrong(_ retries: PINRetries?) -> Explanation {
        guard let retries else {
            return Explanation(
                "pin-wrong", .authentication, "wrong FIDO2 PIN",
                hint: "ykit did not retry; remaining tries: ykit fido2 pin retries")
        }
        if retries.count == 0 { return Self.pinBlocked.explanation }
        let tries = Tries.areLeft(retries.count)
        let hint =
            retries.needsPowerCycle
            ? "re-insert the key before the next try"
            : retries.count == 1
                ? "make sure that it is right: another wrong PIN blocks the key permanently"
                : "ykit did not retry; after three wrong PINs in a row the key must be re-inserted"
        return Explanation(
            "pin-wrong", .authentication, "wrong FIDO2 PIN, \(tries)", hint: hint, retriesLeft: retries.count)
    }

    private func lacking(_ what: String) -> Explanation {
        let names = [
            "FIDO2": "this key supports only U2F, not FIDO2", "U2F_V2": "this key does not support U2F",
            "U2F PIN": "only a YubiKey FIPS of the 4 series has a U2F PIN, and a reset of U2F alone",
            "clientPin": "this key does not support a PIN", "rk": "this key does not store credentials",
            "uv": "this key cannot verify its user", "credMgmt": "this key cannot list its credentials",
            "bioEnroll": "this key has no fingerprint sensor", "authnrCfg": "this key cannot be configured",
            "largeBlobs": "this key does not support large blobs",
            "ep": "this key does not support enterprise attestation",
            "alwaysUv": "this key cannot be set to always verify its user",
            "setMinPINLength": "this key does not support a minimum PIN length",
            "perCredMgmtRO": "this key issues no persistent token", "wink": "this key cannot blink on request",
            "longTouchForReset": "this key cannot be set to require a long touch for a reset",
            "authenticatorConfigCommands 4": "this key cannot be set to require a long touch for a reset",
            "previewSign": "this key does not support signing keys (previewSign)",
            "thirdPartyPayment": "this key does not support payments at other sites (thirdPartyPayment)",
        ]
        return Explanation(
            "not-supported", .notSupported, names[what] ?? "this key does not support \(what.printable)",
            hint: "ykit fido2 info shows what it supports")
    }
}

extension PINProblem {
    package var explanation: Explanation {
        switch self {
        case .tooShort(let length, let minimum):
            Explanation(
                "pin-too-short", .policy,
                "a PIN of \(length) characters is too short; this key requires at least \(minimum)",
                hint: "nothing was sent to the key; give a longer one")
        case .tooLong(let length, let maximum):
            Explanation(
                "pin-too-long", .policy, "a PIN of \(length) bytes is too long; this key accepts at most \(maximum)",
                hint: "nothing was sent to the key; give a shorter one")
        case .endsWithZero:
            Explanation(
                "pin-unsuitable", .policy, "the PIN must not end with a zero byte",
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
                hint: "ykit did not retry; after three wrong PINs in a row only 'ykit u2f reset' clears the block")
        case .blocked:
            Explanation(
                "pin-blocked", .blocked, "the U2F PIN is permanently blocked: no tries are left",
                hint: "only 'ykit u2f reset' clears this; it deletes all U2F credentials on this key", retriesLeft: 0)
        case .notSet:
            Explanation("pin-not-set", .authentication, "no U2F PIN is set on the key", hint: "ykit u2f pin set")
        case .alreadySet: Explanation("pin-set", .policy, "a U2F PIN is already set", hint: "ykit u2f pin change")
        case .badLength(let count):
            Explanation(
                count < U2F.pinLengths.lowerBound ? "pin-too-short" : "pin-too-long", .policy,
                "a U2F PIN must have \(U2F.pinLengths.lowerBound) to \(U2F.pinLengths.upperBound) bytes, this one has \(count)",
                hint: "nothing was sent to the key; give another one")
        case .needed:
            Explanation(
                "pin-needed", .authentication,
                "the key generates U2F key pairs only after its U2F PIN has been verified",
                hint: "ykit u2f pin verify, once each time the key is plugged in")
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
                "full", .failed, "the large blobs would take \(bytes) bytes; the key stores at most \(limit)",
                hint: "ykit fido2 large-blob prune removes blobs that belong to no credential")
        case .unreadable:
            .malformed("the large blob cannot be read", hint: "ykit fido2 large-blob set writes it again")
        case .notWritten:
            Explanation(
                "not-written", .failed,
                "the credential did not store the large blob: it is too long, or none is provided for",
                hint: "a credential can have one if it was created with: ykit fido2 register --large-blob")
        }
    }
}
