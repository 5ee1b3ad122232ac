// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKPIV
package import YKSSH
import YKTransport
import YKWire

extension Explain {
    package static func piv(_ error: PIVError) -> Explanation {
        switch error {
        case .card(let error): card(error)
        case .wrong, .blocked, .emptyPIN, .badPINLength, .shortPIN, .unusablePIN, .refusedPIN, .pinRequired,
            .touchTimeout:
            pivPIN(error)
        case .managementKeyRequired, .wrongManagementKey, .managementKeyLength, .unknownManagementKeyType,
            .notAuthentic, .unproven, .notProtected:
            managementKey(error)
        case .uncertain(let change, let cause): uncertain(change, piv(cause))
        case .unfinished(let change, let cause): unfinished(change, piv(cause))
        case .notApplied, .notStored, .printedInUse: notMade(error)
        case .noSuchObject, .noKey, .unknownKey, .occupied, .unusableSlot, .full, .refusedLength, .notAttestable,
            .mismatch, .noSuchSlot, .wrongSignature:
            pivSlot(error)
        case .unsupported, .unsupportedAlgorithm, .unsupportedKey, .unsupportedManagementKey, .notApproved,
            .weakGeneration, .unfit, .unfitPeer:
            pivLimits(error)
        case .fingerprintsConfigured, .resetNotAllowed, .noReset, .notBlocked: pivReset(error)
        default: pivInput(error)
        }
    }

    private static func pivReset(_ error: PIVError) -> Explanation {
        switch error {
        case .fingerprintsConfigured:
            Explanation(
                "fingerprints", .policy, "fingerprints are enrolled, so PIV cannot be reset by itself",
                hint: "only the reset of the whole key helps: ykit config reset")
        case .noReset:
            Explanation(
                "not-supported", .notSupported,
                "this card cannot be reset: it does not have the command; "
                    + "nothing was changed",
                hint: "keys and certificates are removed one by one: ykit piv keys delete, ykit piv certificates delete"
            )
        case .notBlocked(let reference):
            Explanation(
                "not-blocked", .policy,
                "wrong values do not use up the retries of the \(reference == .puk ? "PUK" : "PIN"), so this card cannot "
                    + "be reset; it was stopped",
                hint: "ykit piv info shows the retries that are left")
        default:
            Explanation(
                "not-blocked", .policy, "the card resets PIV only when PIN and PUK are blocked, and they are not",
                hint: "ykit piv reset blocks both first")
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
        case .invalidFile(let cause): keyFile(cause, in: nil)
        case .crypto(let fault): Explanation("crypto", .failed, "\(fault)")
        default: Explanation("failed", .failed, "\(error)")
        }
    }

    /// Explains why a file of keys and certificates is rejected; `nil` for a file whose name is not known here.
    package static func keyFile(_ error: KeyFileError, in path: String?) -> Explanation {
        let file = path.map { Files.name($0) } ?? "the file"
        switch error {
        case .unknownFormat:
            return malformed(
                "\(file) is neither PEM, DER, PKCS#12 nor a private key of OpenSSH, or holds neither key nor certificate"
            )
        case .tooLarge(let limit): return malformed("\(file) is longer than \(limit >> 10) KiB")
        case .passwordNeeded:
            return Explanation(
                "file-locked", .authentication, "\(file) is encrypted",
                hint: "give its password with --file-password-stdin, --file-password-fd N or YKIT_FILE_PASSWORD")
        case .wrongPassword: return Explanation("file-password-wrong", .authentication, "wrong password of \(file)")
        case .malformed(let cause): return malformed("\(file) cannot be read: \(cause.printable)")
        case .tooMuchWork(let rounds):
            return Explanation("too-much-work", .policy, "\(file) asks for \(rounds) rounds of work to be opened")
        case .legacyCipher(let name, let isPKCS12): return legacyCipher(name, file, path, isPKCS12: isPKCS12)
        case .openSSH:
            return Explanation(
                "not-supported", .notSupported, "\(file) is a private key of OpenSSH, not PEM or PKCS#12")
        case .severalKeys:
            return .usage("\(file) holds several keys", hint: "put the key to use into a file of its own")
        case .severalCertificates(let count):
            return .usage(
                "\(file) holds \(count) certificates, and does not say which one is meant",
                hint: "put the certificate to use into a file of its own")
        case .crypto(let fault): return malformed("\(file) cannot be used: \(fault)")
        }
    }

    private static func legacyCipher(_ name: String, _ file: String, _ path: String?, isPKCS12: Bool) -> Explanation {
        let source = path.map { $0 == "-" ? "FILE" : $0.printable } ?? "FILE"
        return Explanation(
            "not-supported", .notSupported, "\(file) is encrypted with \(name.printable), which is not supported",
            hint: isPKCS12
                ? "openssl pkcs12 -legacy -in \(source) -out new.pem"
                : "openssl pkey -provider legacy -provider default -in \(source) -aes256 -out new.pem")
    }

    /// Explains why a private key of OpenSSH is not read.
    package static func privateKey(_ error: SSHError, in path: String) -> Explanation {
        let (file, source) = (Files.name(path), path == "-" ? "FILE" : path.printable)
        switch error {
        case .encrypted(let cipher) where SecurityKeyFile.decrypts(cipher): return keyFile(.passwordNeeded, in: path)
        case .encrypted(let cipher):
            return Explanation(
                "not-supported", .notSupported, "\(file) is encrypted with \(cipher.printable), which is not supported",
                hint: "in a copy of it: ssh-keygen -p -m PEM -f \(source)")
        case .wrongPassphrase: return keyFile(.wrongPassword, in: path)
        case .malformed(let words): return malformed("\(file) cannot be read: \(words.printable)")
        default: return Explanation("not-supported", .notSupported, "\(file): \("\(error)".printable)")
        }
    }

    package static func chain(_ problem: AttestationProblem) -> Explanation {
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
