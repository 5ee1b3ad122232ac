// SPDX-License-Identifier: Apache-2.0

package import Arguments
package import TerminalIO
package import YKCrypto
package import YKPIV
import YKSSH
import YKWire
package import YKX509

/// The policies of a new key.
package struct KeyPolicyOptions: ParsableArguments {
    @Option(
        "--pin-policy", help: "When the key requires the PIN: default, never, once, always, match-once or match-always."
    )
    package var pinPolicy: PINPolicy = .default

    @Option(
        "--touch-policy",
        help: "When the key requires a touch: default, never, always or cached (once in 15 seconds).")
    package var touchPolicy: TouchPolicy = .default

    package init() {}

    package var policies: KeyPolicies { KeyPolicies(pin: pinPolicy, touch: touchPolicy) }

    /// Explains that a key that was just stored has other policies than requested; `nil` if they match or the card does
    /// not report them.
    package func problem(of slot: PIVSlot, _ service: PIVService) async -> Explanation? {
        guard pinPolicy != .default || touchPolicy != .default,
            let stored = try? await service.metadata(of: slot)?.policies
        else { return nil }
        var wrong: [String] = []
        if pinPolicy != .default, stored.pin != pinPolicy { wrong.append("PIN \(stored.pin)") }
        if touchPolicy != .default, stored.touch != touchPolicy { wrong.append("touch \(stored.touch)") }
        guard !wrong.isEmpty else { return nil }
        return Explanation(
            "not-applied", .failed,
            "the key is in \(slot), but the card set different policies: \(wrong.listed())",
            hint: "unless these are acceptable, delete it: ykit piv keys delete \(slot)")
    }
}

extension KeyFile {
    /// Reads a file of keys and certificates.
    ///
    /// - Parameters:
    ///   - path: The file, - for standard input.
    ///   - password: Asks for the password of an encrypted file; `nil` to refuse one.
    package init(at path: String, password: ((_ prompt: String) throws -> Secret)? = nil) throws {
        var bytes = try Files.read(path)
        defer { Secret.wipe(&bytes) }
        try self.init(bytes, at: path, password: password)
    }

    /// Reads the content of a file; errors name the file.
    package init(_ bytes: [UInt8], at path: String, password: ((_ prompt: String) throws -> Secret)? = nil) throws {
        do { self = try KeyFile(bytes) } catch {
            switch error {
            case .invalidFile(.openSSH): self = try Self.openSSH(bytes, path, password)
            case .invalidFile(.passwordNeeded):
                guard let password else { throw Concerning(.file(path), KeyFileError.passwordNeeded) }
                let given = SharedSecret(try password("password of \(path.printable)"))
                do { self = try KeyFile(bytes, password: given) } catch .invalidFile(let cause) {
                    throw Concerning(.file(path), cause)
                }
            case .invalidFile(let cause): throw Concerning(.file(path), cause)
            default: throw error
            }
        }
    }

    private static func openSSH(
        _ bytes: [UInt8], _ path: String, _ password: ((_ prompt: String) throws -> Secret)?
    ) throws -> KeyFile {
        do throws(SSHError) { return KeyFile(privateKey: try SSHPrivateKey(parsing: bytes).key) } catch {
            guard case .encrypted(let cipher) = error, SecurityKeyFile.decrypts(cipher), password != nil else {
                throw Concerning(.file(path), error)
            }
        }
        let passphrase = try password.map { SharedSecret(try $0("passphrase of \(path.printable)")) }
        do throws(SSHError) {
            return KeyFile(privateKey: try SSHPrivateKey(parsing: bytes, passphrase: passphrase).key)
        } catch { throw Concerning(.file(path), error) }
    }

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

    fileprivate static func noCertificate(_ path: String) -> Explanation {
        Explanation("no-certificate", .notFound, "\(path.fileName) holds no certificate")
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
