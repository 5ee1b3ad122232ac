// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// A mapping file of pam_u2f (pam_u2f(8)): one line per user. If a user has several lines, only the last one is used.
///
/// The file is bytes: lines end at LF alone, as pam_u2f reads them, and the lines of other users stay as they are.
public struct PAMU2FMapping: Hashable, Sendable {
    private var lines: [[UInt8]]

    /// Reads a file; an empty one has no users.
    public init(_ bytes: [UInt8] = []) { lines = bytes.split(separator: UInt8(ascii: "\n")).map { Array($0) } }

    /// The file's content.
    public var bytes: [UInt8] { lines.flatMap { $0 + [UInt8(ascii: "\n")] } }

    /// Returns the credentials of a user, except those stored on keys.
    public func credentialIDs(of user: String) -> [[UInt8]] {
        lines.filter { $0.starts(with: Self.prefix(user)) }.flatMap { line in
            String(decoding: line, as: UTF8.self).split(separator: ":").dropFirst().compactMap { entry in
                entry.split(separator: ",").first.flatMap { try? Base64.decode($0) }
            }
        }
    }

    /// Adds a credential to the user's line.
    ///
    /// - Parameters:
    ///   - entry: The credential.
    ///   - user: The name of the account, without a colon.
    public mutating func append(_ entry: PAMU2FEntry, to user: String) {
        if let index = lines.lastIndex(where: { $0.starts(with: Self.prefix(user)) }) {
            if lines[index].last == UInt8(ascii: "\r") { lines[index].removeLast() }
            lines[index] += ":\(entry)".utf8
        } else {
            lines.append(Array("\(user):\(entry)".utf8))
        }
    }

    private static func prefix(_ user: String) -> String.UTF8View { (user + ":").utf8 }
}

/// A credential in a mapping file of pam_u2f: key handle, public key, type and options (pamu2fcfg(1)).
public struct PAMU2FEntry: Hashable, Sendable, CustomStringConvertible {
    /// How the user is verified when the credential is used.
    public enum Verification: Hashable, Sendable {
        /// By a touch only.
        case presence
        /// By the key's own sensor.
        case builtIn
        /// By the PIN.
        case pin
    }

    /// The entry as the file has it.
    public let description: String

    /// Describes a new credential.
    ///
    /// - Parameters:
    ///   - isResident: Whether the key stores the credential; the entry then has no key handle.
    /// - Returns: `nil` for an algorithm that pam_u2f does not support.
    public init?(
        _ credential: AuthenticatorData.AttestedCredential, isResident: Bool, verification: Verification
    ) {
        let (type, key): (String, [UInt8])
        switch credential.publicKey.material {
        case .ec2(.p256, let x, let y): (type, key) = ("es256", x + y)
        case .okp(.ed25519, let x): (type, key) = ("eddsa", x)
        case .rsa(let modulus, let exponent): (type, key) = ("rs256", modulus + exponent)
        default: return nil
        }
        let options =
            switch verification {
            case .presence: "+presence"
            case .builtIn: "+presence+verification"
            case .pin: "+presence+pin"
            }
        let handle = isResident ? "*" : Base64.encode(credential.id)
        description = "\(handle),\(Base64.encode(key)),\(type),\(options)"
    }
}
