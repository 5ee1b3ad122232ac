// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// A mapping file of pam_u2f (pam_u2f(8)): one line per user. If a user has several lines, only the last one is used.
///
/// The file is bytes: lines end only at LF, as pam_u2f reads them, and the lines of other users stay as they are.
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

    /// A user, and the credentials with which that user logs in.
    public struct User: Hashable, Sendable {
        /// One credential.
        public struct Credential: Hashable, Sendable {
            /// Its identifier; `nil` if the key stores it.
            public let id: [UInt8]?
            /// Its public key as the file has it; `nil` if it is missing or malformed.
            public let publicKey: [UInt8]?
        }

        /// The name of the account.
        public let name: String
        /// The credentials, in the order in which pam_u2f tries them.
        public let credentials: [Credential]
    }

    /// The users with their credentials; of several lines for one user, only the last one is used.
    public var users: [User] {
        var found: [User] = []
        for line in lines {
            let text = String(decoding: line, as: UTF8.self).trimmed
            let fields = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            guard let name = fields.first, !name.isEmpty else { continue }
            let credentials = fields.dropFirst().filter { !$0.isEmpty }.compactMap { entry -> User.Credential? in
                let parts = entry.split(separator: ",", omittingEmptySubsequences: false)
                let key = parts.count > 1 ? try? Base64.decode(parts[1]) : nil
                if parts[0] == "*" { return User.Credential(id: nil, publicKey: key) }
                return (try? Base64.decode(parts[0])).map { User.Credential(id: $0, publicKey: key) }
            }
            found.removeAll { $0.name == name }
            found.append(User(name: name, credentials: credentials))
        }
        return found
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
        guard let (type, key) = Self.publicKey(credential.publicKey) else { return nil }
        let options =
            switch verification {
            case .presence: "+presence"
            case .builtIn: "+presence+verification"
            case .pin: "+presence+pin"
            }
        let handle = isResident ? "*" : Base64.encode(credential.id)
        description = "\(handle),\(Base64.encode(key)),\(type),\(options)"
    }

    /// Returns the type and the bytes of a public key as pam_u2f writes them; `nil` for other algorithms.
    public static func publicKey(_ key: COSEKey) -> (type: String, bytes: [UInt8])? {
        switch key.material {
        case .ec2(.p256, let x, let y): ("es256", x + y)
        case .okp(.ed25519, let x): ("eddsa", x)
        case .rsa(let modulus, let exponent): ("rs256", modulus + exponent)
        default: nil
        }
    }
}
