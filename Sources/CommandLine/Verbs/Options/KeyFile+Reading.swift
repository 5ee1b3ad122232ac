// SPDX-License-Identifier: Apache-2.0

public import Arguments
package import TerminalIO
package import YKCrypto
package import YKPIV
import YKUse
public import YKWire

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
        let passphrase = password.map { ask in { try ask("passphrase of \(path.printable)") } }
        do { return try openSSH(bytes, passphrase: passphrase) } catch { throw Concerning(.file(path), error) }
    }

    /// The error for a file that must have a certificate.
    package static func noCertificate(_ path: String) -> Explanation {
        Explanation("no-certificate", .notFound, "\(path.fileName) holds no certificate")
    }
}

extension KeyboardLayout: ExpressibleByArgument {
    /// Parses the name, in upper or lower case.
    public init?(argument: String) { self.init(rawValue: argument.lowercased()) }
}
