// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import Verbs
package import YKCrypto
package import YKPIV
package import YKX509

extension KeyFile {
    /// Reads the public key in a file: itself, or that of a certificate or a private key.
    package static func publicKey(_ path: String) throws -> PublicKey {
        try KeyFile(at: path).publicKey(in: path)
    }

    /// The public key: itself, or that of a certificate or of the private key.
    package func publicKey(in path: String) throws -> PublicKey {
        if let key = publicKey { return key }
        if let key = try certificates.isEmpty ? privateKey?.publicKey : certificate(in: path).publicKey { return key }
        throw Explanation("no-public-key", .notFound, "\(path.fileName) holds no public key")
    }

    /// Reads the certificates in a file; requires at least one.
    package static func certificates(_ path: String) throws -> [X509Certificate] {
        let certificates = try KeyFile(at: path).certificates
        guard certificates.isEmpty else { return certificates }
        throw noCertificate(path)
    }

    /// Returns the relevant certificate, that of a key if it is known; throws if there is none.
    package func certificate(for key: PublicKey? = nil, in path: String) throws -> X509Certificate {
        do {
            if let certificate = try certificate(for: key) { return certificate }
        } catch .invalidFile(let cause) { throw Concerning(.file(path), cause) }
        throw Self.noCertificate(path)
    }
}

extension FilePasswordOptions {
    /// Reads a file of keys and certificates; asks for its password if it has one.
    package func read(_ path: String, _ run: Run) throws -> KeyFile {
        try KeyFile(at: path) { prompt in try password(prompt, run.terminal) }
    }

    /// Reads a file with at least one certificate; asks for its password if it has one.
    package func certificates(_ path: String, _ run: Run) throws -> KeyFile {
        let file = try read(path, run)
        guard !file.certificates.isEmpty else { throw KeyFile.noCertificate(path) }
        return file
    }

    /// Reads a file with a private key; asks for its password if it has one.
    package func privateKey(_ path: String, _ run: Run) throws -> (key: PrivateKey, file: KeyFile) {
        let file = try read(path, run)
        guard let key = file.privateKey else {
            throw Explanation("no-private-key", .notFound, "\(path.fileName) holds no private key")
        }
        return (key, file)
    }
}
