// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKPIV

extension PIVError: Explained {
    package var explanation: Explanation {
        switch self {
        case .card(let error): error.explanation
        case .wrong(let reference, let left): reference.wrong(left)
        case .blocked(let reference): reference.blocked
        case .emptyPIN: Explanation("pin-empty", .usage, "the PIN or PUK must not be empty")
        case .badPINLength(let count):
            Explanation(
                "pin-too-long", .usage, "a PIN or PUK must have at most 8 bytes, this one has \(count); it was not sent"
            )
        case .shortPIN(let reference, let count, let least):
            Explanation(
                "pin-too-short", .usage,
                "a \(reference == .puk ? "PUK" : "PIN") must have at least \(least) characters, this one has \(count); it was not sent"
            )
        case .unusablePIN:
            Explanation(
                "pin-unusable", .usage, "a PIN or PUK must not contain control characters; it was not sent",
                hint: "check for a carriage return at the end of the line")
        case .refusedPIN:
            Explanation(
                "pin-refused", .policy, "the key refused the new PIN: it is too short, too simple or not allowed",
                hint: "use 6 to 8 characters, preferably digits")
        case .pinRequired:
            Explanation(
                "pin-needed", .authentication, "this requires the PIV PIN",
                hint: "give the PIV PIN with --pin-stdin, --pin-fd N, YKIT_PIV_PIN or YKIT_PIN")
        case .touchTimeout: .notTouched
        case .wrongManagementKey:
            Explanation(
                "management-key-wrong", .authentication,
                "wrong management key; attempts are not limited, so no try is lost",
                hint: "try again; a forgotten one can only be replaced by 'ykit piv reset', which deletes all PIV keys")
        case .managementKeyUnavailable:
            Explanation(
                "not-allowed", .policy, "the card does not authenticate with a management key",
                hint: "it may have none, or allow that only over another interface")
        case .managementKeyLength(let count, let type):
            Explanation(
                "management-key-length", .usage,
                "the management key has the type \(type), which requires \(type.keySize ?? 0) bytes, not \(count); "
                    + "nothing was sent")
        case .unknownManagementKeyType(let type):
            Explanation(
                "not-supported", .notSupported,
                "the management key has a type that ykit does not support" + (type.map { ": \($0)" } ?? ""))
        case .notAuthentic:
            Explanation(
                "not-authentic", .authentication, "the key did not prove that it knows the management key",
                hint: "this may be an impostor; do not use the key until this is resolved")
        case .unproven:
            Explanation(
                "not-proven", .authentication,
                "the card accepted the management key, but sent no proof that it knows it",
                hint: "some vendors' cards never do; if you trust this one, repeat the command with --no-mutual")
        case .notProtected:
            Explanation(
                "not-protected", .notFound, "the key has no PIN-protected management key",
                hint: "ykit piv access change-management-key --generate --protect")
        case .managementKeyRequired:
            Explanation(
                "management-key-needed", .authentication, "this requires the management key",
                hint: "give it with --management-key-stdin, --management-key-fd N or YKIT_MANAGEMENT_KEY")
        case .uncertain(let change, let cause): change.uncertain(cause.explanation)
        case .unfinished(let change, let cause): change.unfinished(cause.explanation)
        case .notApplied:
            Explanation(
                "not-applied", .malformed, "the key accepted the change, but still reports the old setting",
                hint: "this is a firmware fault; record it with --record FILE and report it")
        case .notStored(let id):
            Explanation(
                "not-stored", .malformed,
                "the key accepted the object \(id), but returns another one; nothing was changed",
                hint: "this is a firmware fault; record it with --record FILE and report it")
        case .printedInUse:
            Explanation(
                "printed-in-use", .policy,
                "the printed object contains something other than a management key; nothing was changed",
                hint: "save it with 'ykit piv objects export printed'; --force overwrites it")
        case .noSuchObject(let id):
            Explanation("no-such-object", .notFound, id.absence, hint: "ykit piv info shows what the key stores")
        case .noKey(let slot):
            Explanation(
                "no-key", .notFound, "slot \(slot) has no key", hint: "ykit piv info shows what the key stores")
        case .noKeyOf(let algorithm, let slot):
            Explanation(
                "no-key", .notFound, "slot \(slot) has no \(algorithm) key",
                hint: "ykit piv info shows what the key stores")
        case .unknownKey(let slot):
            Explanation(
                "unknown-key", .notFound,
                "neither the card nor a certificate shows what kind of key, if any, is in slot \(slot)",
                hint: "give its algorithm with --algorithm (sign, decrypt, derive), or its public key: "
                    + "--public-key FILE (certificates request), FILE after the slot (certificates generate)")
        case .occupied(let slot):
            Explanation(
                "exists", .policy, "slot \(slot) already has a key",
                hint: "choose another slot, or delete that key first: ykit piv keys delete \(slot)")
        case .unusableSlot(let slot):
            Explanation("unusable-slot", .usage, "slot \(slot) does not accept this kind of key pair or certificate")
        case .noSuchSlot(let slot):
            Explanation("not-supported", .notSupported, "this card does not support keys in slot \(slot)")
        case .wrongSignature(let slot):
            Explanation(
                "signature-wrong", .malformed,
                "the card's signature does not verify with the public key of slot \(slot); it was discarded",
                hint: "some firmware signs only 32 bytes with Ed25519")
        case .full:
            Explanation(
                "full", .failed, "the key has no room for it",
                hint: "delete a certificate, or import this one with --compress")
        case .refusedLength(let id):
            id.refusedLength
        case .notAttestable(let slot):
            Explanation(
                "not-attestable", .policy,
                "slot \(slot) has no key that was generated on this key: it cannot be attested")
        case .mismatch(let slot):
            Explanation(
                "mismatch", .policy, "the certificate does not belong to the key in \(slot); nothing was written",
                hint: "it may be for another slot; --no-check writes it anyway")
        case .unsupported(let feature, let needs, let has):
            Explanation(
                "not-supported", .notSupported,
                "\(feature.words) is not supported by this key"
                    + (has.map { " (needs firmware \(needs), has \($0))" } ?? ""))
        case .unsupportedKey(let kind):
            Explanation("not-supported", .notSupported, "\(kind) keys are not supported in PIV")
        case .unsupportedAlgorithm(let algorithm):
            Explanation(
                "not-supported", .notSupported, "this key does not support \(algorithm) keys with these policies")
        case .unsupportedManagementKey(let type):
            Explanation(
                "not-supported", .notSupported, "the card refuses a management key of type \(type)",
                hint: "ykit piv info shows the type it has; choose it with --algorithm")
        case .notApproved:
            Explanation(
                "not-approved", .policy, "the key does not accept private keys now",
                hint:
                    "a key of the FIPS series accepts them only after its PIN, PUK and management key have been changed: "
                    + "ykit piv access change-pin, change-puk, change-management-key")
        case .weakGeneration(let version):
            Explanation(
                "weak-rsa", .policy,
                "RSA keys generated by firmware \(version) can be broken (ROCA, YSA-2017-01); none was generated",
                hint: "use --algorithm ecc-p256, or generate the key elsewhere and import it")
        case .unfit(let algorithm, let operation):
            Explanation("unfit-key", .usage, "an \(algorithm) key cannot \(operation.words)")
        case .unfitPeer(let algorithm):
            Explanation("unfit-key", .usage, "the peer's key does not match the slot's key, which is \(algorithm)")
        case .fingerprintsConfigured:
            Explanation(
                "fingerprints", .policy, "fingerprints are enrolled, so PIV cannot be reset alone",
                hint: "reset the whole key: ykit config reset")
        case .noReset:
            Explanation(
                "not-supported", .notSupported,
                "this card cannot be reset: it does not support the command; "
                    + "nothing was changed",
                hint: "remove keys and certificates one by one: ykit piv keys delete, ykit piv certificates delete"
            )
        case .notBlocked(let reference):
            Explanation(
                "not-blocked", .policy,
                "wrong values do not use up the tries of the \(reference == .puk ? "PUK" : "PIN"), so this card cannot "
                    + "be reset; it was stopped",
                hint: "ykit piv info shows the tries that are left")
        case .resetNotAllowed:
            Explanation(
                "not-blocked", .policy, "the card resets PIV only when PIN and PUK are blocked, and they are not",
                hint: "ykit piv reset blocks both first")
        case .badInput(let words): .usage("the input is invalid: \(words)")
        case .notDecrypted:
            Explanation(
                "not-decrypted", .failed, "the decrypted message is not padded correctly",
                hint: "it was encrypted for another key, or with another --padding or --hash")
        case .malformedObject(let id, let cause): .malformed("the object \(id) is malformed: \(cause)")
        case .notInflated(let limit):
            .malformed("the certificate is compressed and damaged, or longer than \(limit) bytes")
        case .notCertificate(let cause): .malformed("this is not a certificate: \(cause.printable)")
        case .chain(let problem): problem.explanation
        case .invalidFile(let cause): cause.explanation
        case .crypto(let fault): fault.explanation
        }
    }
}

extension PIVReference {
    fileprivate func wrong(_ left: Int) -> Explanation {
        let tries = Tries.areLeft(left)
        switch self {
        case .pin:
            return Explanation(
                "pin-wrong", .authentication, "wrong PIV PIN, \(tries)",
                hint: "ykit did not retry; when no tries are left, the PUK can set a new PIN", retriesLeft: left)
        case .puk:
            return Explanation(
                "puk-wrong", .authentication, "wrong PIV PUK, \(tries)",
                hint: "ykit did not retry; when no tries are left, only a reset of PIV can set a new PIN",
                retriesLeft: left)
        case .fingerprint:
            return Explanation(
                "finger-not-recognised", .authentication, "the finger was not recognized, \(tries)",
                retriesLeft: left)
        }
    }

    fileprivate var blocked: Explanation {
        switch self {
        case .pin:
            Explanation(
                "pin-blocked", .blocked, "the PIV PIN is blocked: no tries are left",
                hint: "set a new one with the PUK: ykit piv access unblock-pin", retriesLeft: 0)
        case .puk:
            Explanation(
                "puk-blocked", .blocked, "the PIV PUK is blocked: no tries are left",
                hint: "if the PIN is blocked too, only 'ykit piv reset' clears this; it deletes all PIV keys",
                retriesLeft: 0)
        case .fingerprint:
            Explanation(
                "fingers-blocked", .blocked, "fingerprints are blocked", hint: "the PIN unblocks them", retriesLeft: 0)
        }
    }
}

extension PIVObjectID {
    fileprivate var refusedLength: Explanation {
        let isCertificate = PIVSlot.all.contains { $0.certificateObject == self }
        return Explanation(
            "refused-length", .failed, "the card refuses an object \(self) of this length",
            hint: isCertificate ? "delete another certificate, or import this one with --compress" : nil)
    }

    fileprivate var absence: String {
        let all = PIVSlot.all
        guard let slot = all.first(where: { $0.certificateObject == self }) else {
            return "the key has no object \(self)"
        }
        return "slot \(slot) has no certificate"
    }
}

extension PIVOperation {
    fileprivate var words: String {
        switch self {
        case .sign: "sign"
        case .decrypt: "decrypt"
        case .derive: "agree on a secret"
        }
    }
}

extension PIVFeature {
    fileprivate var words: String {
        switch self {
        case .p384: "P-384"
        case .policies: "a PIN or touch policy"
        case .cachedTouch: "the touch policy 'cached'"
        case .attestation: "attestation"
        case .serial: "the serial number"
        case .metadata: "metadata"
        case .aesManagementKey: "an AES management key"
        case .largeRSA: "RSA with 3072 or 4096 bits"
        case .curve25519: "Ed25519 and X25519"
        case .moveKey: "moving and deleting keys"
        case .fingerprints: "fingerprints"
        }
    }
}

extension AttestationProblem {
    package var explanation: Explanation {
        let words =
            switch self {
            case .notSignedByDevice: "the attestation is not signed by the key in f9"
            case .noIssuer(let subject): "'\(subject.printable)' does not chain to a trusted root"
            case .notAuthority(let subject): "'\(subject.printable)' is not allowed to sign this chain's certificates"
            case .notValidNow(let subject): "'\(subject.printable)' is not valid at this time"
            case .tooLong: "the chain is too long"
            case .refused(let subject, let reason): "'\(subject.printable)' is refused: \(reason.printable)"
            }
        return Explanation(
            "not-vouched", .authentication, words,
            hint: "give the vendor's certificates with --root and --intermediate")
    }
}
