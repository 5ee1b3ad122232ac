// SPDX-License-Identifier: Apache-2.0

import Glibc
package import TerminalIO
package import YKKeyAgent
import YKPIV
package import YKSSH

extension SSHError: Explained {
    package var explanation: Explanation {
        switch self {
        case .encrypted(let cipher):
            Explanation(
                "encrypted", .notSupported, "\(self)",
                hint: "remove the passphrase with 'ssh-keygen -p -f FILE' (the file holds no secret)"
                    + (SecurityKeyFile.decrypts(cipher)
                        ? "" : ", or encrypt it with 'ssh-keygen -p -Z aes256-ctr -f FILE'"))
        case .wrongPassphrase:
            Explanation("file-password-wrong", .authentication, "wrong passphrase for the key file")
        case .notInSecurityKey(let type):
            Explanation(
                "no-security-key", .notSupported,
                "a private key of type '\(type.printable)' does not belong to a security key",
                hint: "give a key file made by 'ykit ssh generate' or 'ssh-keygen -t ed25519-sk'")
        case .unsupportedKey(let type):
            Explanation("not-supported", .notSupported, "keys of type '\(type.printable)' are not supported here")
        case .malformed(let words): .malformed(words.printable)
        case .severalKeys: KeyFileError.severalKeys.explanation
        case .wrongSignature(let words): Explanation("wrong-signature", .authentication, words.printable)
        }
    }

    /// With a file, the words are about a private key that is read for another application than SSH.
    package func explanation(concerning subject: Subject?) -> Explanation {
        guard let path = subject?.text else { return explanation }
        let (file, source) = (path.fileName, path == "-" ? "FILE" : path.printable)
        switch self {
        case .encrypted(let cipher) where SecurityKeyFile.decrypts(cipher):
            return KeyFileError.passwordNeeded.explanation(concerning: subject)
        case .encrypted(let cipher):
            return Explanation(
                "not-supported", .notSupported, "\(file) is encrypted with \(cipher.printable), which is not supported",
                hint: "in a copy of it: ssh-keygen -p -m PEM -f \(source)")
        case .wrongPassphrase: return KeyFileError.wrongPassword.explanation(concerning: subject)
        case .malformed(let words): return .malformed("\(file) cannot be read: \(words.printable)")
        case .severalKeys: return KeyFileError.severalKeys.explanation(concerning: subject)
        case .notInSecurityKey, .unsupportedKey, .wrongSignature:
            return Explanation("not-supported", .notSupported, "\(file): \("\(self)".printable)")
        }
    }
}

extension AgentSocketError: Explained {
    package var explanation: Explanation {
        switch self {
        case .agentListens(let path):
            .usage(
                "an agent is already listening at \(path.printable)",
                hint: "export SSH_AUTH_SOCK=\(path.printable) to use it, or choose another one with --socket PATH")
        case .exists(let path):
            .usage("\(path.printable) already exists", hint: "choose another socket with --socket PATH")
        case .unsuitablePath:
            .usage("the path of a socket must be at most 107 bytes long", hint: "choose another one with --socket PATH")
        case .failed(let path, let number):
            Explanation(
                "socket", ExitStatus(errno: number),
                "cannot create \(path.map { "the socket \($0.printable)" } ?? "a socket"): \(String(cString: strerror(number)))"
            )
        }
    }
}
