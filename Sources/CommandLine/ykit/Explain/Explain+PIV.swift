// SPDX-License-Identifier: Apache-2.0

import YKPIV
import YKTransport
import YKWire

extension Explain {
    static func piv(_ error: PIVError) -> Explanation {
        switch error {
        case .card(let error): card(error)
        case .wrong, .blocked, .emptyPIN, .badPINLength, .shortPIN, .unusablePIN, .refusedPIN, .pinRequired,
            .touchTimeout:
            pivPIN(error)
        case .managementKeyRequired, .wrongManagementKey, .managementKeyLength, .unknownManagementKeyType,
            .notAuthentic, .notProtected:
            managementKey(error)
        case .uncertain(let change, let cause): uncertain(change, piv(cause))
        case .unfinished(let change, let cause): unfinished(change, piv(cause))
        case .notApplied, .notStored, .printedInUse: notMade(error)
        case .noSuchObject, .noKey, .occupied, .unusableSlot, .full, .notAttestable, .mismatch, .noSuchSlot,
            .wrongSignature:
            pivSlot(error)
        case .unsupported, .unsupportedAlgorithm, .unsupportedKey, .notApproved, .weakGeneration, .unfit,
            .unfitPeer:
            pivLimits(error)
        case .fingerprintsConfigured:
            Explanation(
                "fingerprints", .policy, "fingerprints are enrolled, so PIV cannot be reset by itself",
                hint: "only the reset of the whole key helps: ykit config reset")
        case .resetNotAllowed:
            Explanation(
                "not-blocked", .policy, "the card resets PIV only when PIN and PUK are blocked, and they are not",
                hint: "ykit piv reset blocks both first")
        default: pivInput(error)
        }
    }

    private static func pivInput(_ error: PIVError) -> Explanation {
        switch error {
        case .badInput(let words): .usage("the input does not fit: \(words)")
        case .notDecrypted:
            Explanation(
                "not-decrypted", .failed, "the decrypted message is not padded correctly",
                hint: "it was encrypted for another key, or with another --padding or --hash")
        case .malformedObject(let id, let cause): malformed("the object \(id) is malformed: \(cause)")
        case .notInflated(let limit):
            malformed("the certificate is compressed and damaged, or longer than \(limit) bytes")
        case .notCertificate(let cause): malformed("this is not a certificate: \(cause.printable)")
        case .chain(let problem): chain(problem)
        case .invalidFile(let cause): keyFile(cause)
        case .crypto(let fault): Explanation("crypto", .failed, "\(fault)")
        default: Explanation("failed", .failed, "\(error)")
        }
    }

    private static func keyFile(_ error: KeyFileError) -> Explanation {
        switch error {
        case .unknownFormat:
            malformed("the file is neither PEM, DER nor PKCS#12, or holds neither key nor certificate")
        case .tooLarge(let limit): malformed("the file is longer than \(limit >> 10) KiB")
        case .passwordNeeded:
            Explanation(
                "file-locked", .authentication, "the file is encrypted",
                hint: "give its password with --file-password-stdin, --file-password-fd N or YKIT_FILE_PASSWORD")
        case .wrongPassword: Explanation("file-password-wrong", .authentication, "wrong password of the file")
        case .malformed(let cause): malformed("the file cannot be read: \(cause.printable)")
        case .tooMuchWork(let rounds):
            Explanation("too-much-work", .policy, "the file asks for \(rounds) rounds of work to be opened")
        case .crypto(let fault): malformed("the file cannot be used: \(fault)")
        }
    }

    static func chain(_ problem: AttestationProblem) -> Explanation {
        let words =
            switch problem {
            case .notSignedByDevice: "the attestation is not signed by the key in f9"
            case .noIssuer(let subject): "none of the roots vouches for '\(subject.printable)'"
            case .notAuthority(let subject): "'\(subject.printable)' may not sign this chain's certificates"
            case .notValidNow(let subject): "'\(subject.printable)' is not valid at this time"
            case .tooLong: "the chain is longer than any that makers use"
            case .refused(let subject, let reason): "'\(subject.printable)' is refused: \(reason.printable)"
            case .needsOpenSSL: "certificates are checked with OpenSSL 3 (libcrypto.so.3), which is not installed"
            }
        return Explanation(
            "not-vouched", .authentication, words, hint: "name the maker's certificates with --root and --intermediate")
    }
}
