// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKPIV
import YKTransport
import YKWire

extension Explain {
    package static func pivPIN(_ error: PIVError) -> Explanation {
        switch error {
        case .wrong(let reference, let left): wrong(reference, left)
        case .blocked(let reference): blocked(reference)
        case .emptyPIN: Explanation("pin-empty", .usage, "an empty PIN or PUK is never sent")
        case .badPINLength(let count):
            Explanation(
                "pin-too-long", .usage, "a PIN or PUK has at most 8 bytes, this has \(count); it was not sent")
        case .shortPIN(let reference, let count, let least):
            Explanation(
                "pin-too-short", .usage,
                "a \(reference == .puk ? "PUK" : "PIN") has at least \(least) characters, this has \(count); it was not sent"
            )
        case .unusablePIN:
            Explanation(
                "pin-unusable", .usage, "a PIN or PUK has no control characters; it was not sent",
                hint: "is there a carriage return at the end of the line?")
        case .refusedPIN:
            Explanation(
                "pin-refused", .policy, "the key refused the new one: too short, too simple, or not allowed",
                hint: "use 6 to 8 characters, preferably digits")
        case .pinRequired:
            Explanation(
                "pin-needed", .authentication, "this needs the PIV PIN",
                hint: "give the PIN of PIV with --pin-stdin, --pin-fd N, YKIT_PIV_PIN or YKIT_PIN")
        default:
            Explanation(
                "not-touched", .timeOut, "the key was not touched in time",
                hint: "repeat the command and touch the key while it blinks")
        }
    }

    private static func wrong(_ reference: PIVReference, _ left: Int) -> Explanation {
        let tries = Tries.areLeft(left)
        switch reference {
        case .pin:
            return Explanation(
                "pin-wrong", .authentication, "wrong PIV PIN, \(tries)",
                hint: "it was not tried again; when none is left, the PUK sets a new PIN", retriesLeft: left)
        case .puk:
            return Explanation(
                "puk-wrong", .authentication, "wrong PIV PUK, \(tries)",
                hint: "it was not tried again; when none is left, only a reset of PIV sets a new PIN",
                retriesLeft: left)
        case .fingerprint:
            return Explanation(
                "finger-not-recognised", .authentication, "the finger was not recognised, \(tries)",
                retriesLeft: left)
        }
    }

    private static func blocked(_ reference: PIVReference) -> Explanation {
        switch reference {
        case .pin:
            Explanation(
                "pin-blocked", .blocked, "no tries of the PIV PIN are left: it is blocked",
                hint: "set a new one with the PUK: ykit piv access unblock-pin", retriesLeft: 0)
        case .puk:
            Explanation(
                "puk-blocked", .blocked, "no tries of the PIV PUK are left: it is blocked",
                hint: "if the PIN is blocked too, only 'ykit piv reset' helps, which deletes all PIV keys",
                retriesLeft: 0)
        case .fingerprint:
            Explanation(
                "fingers-blocked", .blocked, "fingerprints are blocked", hint: "the PIN frees them", retriesLeft: 0)
        }
    }

    package static func managementKey(_ error: PIVError) -> Explanation {
        switch error {
        case .wrongManagementKey:
            Explanation(
                "management-key-wrong", .authentication,
                "wrong management key; attempts are not limited, so none is lost",
                hint: "try again; a forgotten one can only be replaced by 'ykit piv reset', which deletes all PIV keys")
        case .managementKeyLength(let count, let type):
            Explanation(
                "management-key-length", .usage,
                "the management key is of type \(type), which has \(type.keySize ?? 0) bytes, not \(count); "
                    + "nothing was sent")
        case .unknownManagementKeyType(let type):
            Explanation(
                "not-supported", .notSupported,
                "the management key is of a type that is not known here" + (type.map { ": \($0)" } ?? ""))
        case .notAuthentic:
            Explanation(
                "not-authentic", .authentication, "the key did not prove that it knows the management key",
                hint: "this may not be the key that it claims to be; do not use it until you know")
        case .unproven:
            Explanation(
                "not-proven", .authentication,
                "the card accepted the management key, but did not prove that it knows it: it answered nothing",
                hint: "cards of some makers never do; if you trust this one, repeat the command with --no-mutual")
        case .notProtected:
            Explanation(
                "not-protected", .notFound, "the key has no management key that the PIN protects",
                hint: "ykit piv access change-management-key --generate --protect")
        default:
            Explanation(
                "management-key-needed", .authentication, "this needs the management key",
                hint: "give it with --management-key-stdin, --management-key-fd N or YKIT_MANAGEMENT_KEY")
        }
    }

    static func pivSlot(_ error: PIVError) -> Explanation {
        switch error {
        case .noSuchObject(let id):
            Explanation("no-such-object", .notFound, noObject(id), hint: "ykit piv info shows what is there")
        case .noKey(let slot):
            Explanation(
                "no-key", .notFound, "slot \(slot) has no key", hint: "ykit piv info shows what is there")
        case .unknownKey(let slot):
            Explanation(
                "unknown-key", .notFound,
                "neither the card nor a certificate shows which kind of key is in slot \(slot), if any",
                hint: "name its kind with --algorithm (sign, decrypt, derive), or its public key: "
                    + "--public-key FILE (certificates request), FILE after the slot (certificates generate)")
        case .occupied(let slot):
            Explanation(
                "exists", .policy, "slot \(slot) has a key already",
                hint: "choose another slot, or delete that key first: ykit piv keys delete \(slot)")
        case .unusableSlot(let slot):
            Explanation("unusable-slot", .usage, "slot \(slot) takes no key pair or certificate of this kind")
        case .noSuchSlot(let slot):
            Explanation("not-supported", .notSupported, "this card has no slot \(slot), or stores no keys in it")
        case .wrongSignature(let slot):
            Explanation(
                "signature-wrong", .malformed,
                "the card's signature does not verify with the public key of slot \(slot); it was discarded",
                hint: "the firmware signs something else: some sign only 32 bytes with Ed25519")
        case .full:
            Explanation(
                "full", .failed, "there is no room for it on the key",
                hint: "delete a certificate, or import this one with --compress")
        case .refusedLength(let id):
            refusedLength(id)
        case .notAttestable(let slot):
            Explanation(
                "not-attestable", .notFound,
                "the key in \(slot) was not made on this key, or there is none: it cannot be attested")
        case .mismatch(let slot):
            Explanation(
                "mismatch", .policy, "the certificate does not belong to the key in \(slot); nothing was written",
                hint: "is it for another slot? --no-check writes it all the same")
        default: Explanation("failed", .failed, "\(error)")
        }
    }

    private static func refusedLength(_ id: PIVObjectID) -> Explanation {
        let isCertificate = PIVSlot.all.contains { $0.certificateObject == id }
        return Explanation(
            "refused-length", .failed, "the card refuses an object \(id) of this length",
            hint: isCertificate ? "delete another certificate, or import this one with --compress" : nil)
    }

    private static func noObject(_ id: PIVObjectID) -> String {
        let all = PIVSlot.all
        guard let slot = all.first(where: { $0.certificateObject == id }) else { return "there is no object \(id)" }
        return "slot \(slot) has no certificate"
    }

    static func pivLimits(_ error: PIVError) -> Explanation {
        switch error {
        case .unsupported(let feature, let needs, let has):
            Explanation(
                "not-supported", .notSupported,
                "\(feature.words) is not supported by this key"
                    + (has.map { " (needs firmware \(needs), has \($0))" } ?? ""))
        case .unsupportedKey(let kind):
            Explanation("not-supported", .notSupported, "\(kind) keys are not supported in PIV")
        case .unsupportedAlgorithm(let algorithm):
            Explanation("not-supported", .notSupported, "this key takes no \(algorithm) keys with these policies")
        case .unsupportedManagementKey(let type):
            Explanation(
                "not-supported", .notSupported, "the card refuses a management key of type \(type)",
                hint: "ykit piv info shows the type that it has; choose it with --algorithm")
        case .notApproved:
            Explanation(
                "not-approved", .policy, "the key takes no private keys now",
                hint: "a key of the FIPS series takes them only once its PIN, PUK and management key were changed: "
                    + "ykit piv access change-pin, change-puk, change-management-key")
        case .weakGeneration(let version):
            Explanation(
                "weak-rsa", .policy,
                "RSA keys made by firmware \(version) can be broken (ROCA, YSA-2017-01); none was made",
                hint: "use --algorithm ecc-p256, or make the key elsewhere and import it")
        case .unfit(let algorithm, let operation):
            Explanation("unfit-key", .usage, "a key of kind \(algorithm) cannot \(operation.words)")
        case .unfitPeer(let algorithm):
            Explanation("unfit-key", .usage, "the peer's key is of another kind than the slot's, which is \(algorithm)")
        default: Explanation("failed", .failed, "\(error)")
        }
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
