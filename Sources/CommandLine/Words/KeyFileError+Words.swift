// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKPIV
import YKWire

extension KeyFileError: Explained {
    package var explanation: Explanation { explanation(concerning: nil) }

    package func explanation(concerning subject: Subject?) -> Explanation {
        let path = subject?.text
        let file = path.map(\.fileName) ?? "the file"
        switch self {
        case .unknownFormat:
            return .malformed(
                "\(file) is not PEM, DER, PKCS#12 or an OpenSSH private key, or contains neither a key nor a certificate"
            )
        case .foreign(let format): return format.explanation(of: file, path ?? "FILE")
        case .tooLarge(let limit): return .malformed("\(file) is longer than \(limit >> 10) KiB")
        case .passwordNeeded:
            return Explanation(
                "file-locked", .authentication, "\(file) is encrypted",
                hint: "give its password with --file-password-stdin, --file-password-fd N or YKIT_FILE_PASSWORD")
        case .wrongPassword: return Explanation("file-password-wrong", .authentication, "wrong password for \(file)")
        case .malformed(let cause): return .malformed("\(file) cannot be read: \(cause.printable)")
        case .tooMuchWork(let rounds):
            return Explanation(
                "too-much-work", .policy, "\(file) requires \(rounds) key derivation rounds, more than ykit allows")
        case .legacyCipher(let name, let isPKCS12): return Self.legacyCipher(name, file, path, isPKCS12: isPKCS12)
        case .openSSH:
            return Explanation(
                "not-supported", .notSupported, "\(file) is an OpenSSH private key, not PEM or PKCS#12")
        case .severalKeys:
            return .usage("\(file) contains several keys", hint: "put the key to use into a separate file")
        case .severalCertificates(let count):
            return .usage(
                "\(file) contains \(count) certificates and does not say which one to use",
                hint: "put the certificate that you want to use into a separate file")
        case .crypto(let fault): return .malformed("\(file) cannot be used: \(fault)")
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
}

extension ForeignKeyFormat {
    /// Names the format, and what converts it.
    fileprivate func explanation(of file: String, _ path: String) -> Explanation {
        let source = path == "-" ? "FILE" : path.printable
        let (what, hint) =
            switch self {
            case .pkcs7:
                (
                    "holds certificates in PKCS#7",
                    "openssl pkcs7 -print_certs -in \(source) -out certificates.pem (with -inform DER if it is binary)"
                )
            case .openPGP:
                ("is a key of OpenPGP", "'gpg --edit-key ID' with its command keytocard moves it to the card")
            case .putty:
                ("is a key file of PuTTY", "puttygen \(source) -O private-openssh-new -o key")
            case .jwk: ("is a JSON Web Key", "convert it to PEM first")
            }
        return Explanation("not-supported", .notSupported, "\(file) \(what), which is not read", hint: hint)
    }
}
