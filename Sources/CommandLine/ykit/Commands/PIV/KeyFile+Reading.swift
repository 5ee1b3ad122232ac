// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKPIV
import YKX509

extension KeyFile {
    /// Reads the public key in a file: itself, or that of a certificate or a private key.
    static func publicKey(_ path: String) throws -> PublicKey {
        let file = try KeyFile(try Files.read(path))
        if let key = file.publicKey ?? file.certificates.first?.publicKey ?? file.privateKey?.publicKey { return key }
        throw Explanation("no-public-key", .notFound, "\(path.printable) holds no public key")
    }

    /// Reads the certificates in a file; requires at least one.
    static func certificates(_ path: String) throws -> [X509Certificate] {
        let certificates = try KeyFile(try Files.read(path)).certificates
        guard certificates.isEmpty else { return certificates }
        throw Explanation("no-certificate", .notFound, "\(path.printable) holds no certificate")
    }
}
