// SPDX-License-Identifier: Apache-2.0

import YKCrypto

/// The persistent state of the OATH application.
package struct OATHMemory: Hashable, Sendable {
    /// Eight random bytes, drawn again at each reset, from which the device identifier is derived.
    package var salt: [UInt8]
    /// The access key, if set.
    package var accessKey: [UInt8]?
    /// The accounts in order.
    package var accounts: [VirtualAccount]

    package init(salt: [UInt8], accessKey: [UInt8]? = nil, accounts: [VirtualAccount] = []) {
        self.salt = salt
        self.accessKey = accessKey
        self.accounts = accounts
    }

    /// The index of the account with this name.
    package func index(of name: [UInt8]) -> Int? { accounts.firstIndex { $0.name == name } }
}

/// An OATH account as stored on the key.
package struct VirtualAccount: Hashable, Sendable {
    /// The moving factor of the code.
    package enum Kind: UInt8, Hashable, Sendable {
        /// A counter on the key (RFC 4226).
        case hotp = 0x10
        /// The host's clock (RFC 6238).
        case totp = 0x20
    }

    /// The hash algorithm of the code, as numbered by the protocol.
    package enum Hash: UInt8, Hashable, Sendable {
        /// SHA-1.
        case sha1 = 1
        /// SHA-256.
        case sha256 = 2
        /// SHA-512, from firmware 4.3.1.
        case sha512 = 3

        var algorithm: HashAlgorithm {
            switch self {
            case .sha1: .sha1
            case .sha256: .sha256
            case .sha512: .sha512
            }
        }
    }

    /// The flags in PUT's property byte.
    package struct Properties: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        /// A challenge must be greater than the previous one.
        package static let increasing = Properties(rawValue: 0x01)
        /// Each code requires a touch.
        package static let touch = Properties(rawValue: 0x02)
    }

    /// The identifier, 1 to 64 bytes: period, issuer and name as combined by the host.
    package var name: [UInt8]
    /// The moving factor of the code.
    package var kind: Kind
    /// The hash algorithm of the code.
    package var hash: Hash
    /// The number of digits.
    package var digits: UInt8
    /// The HMAC key.
    package var secret: [UInt8]
    /// The property flags.
    package var properties: Properties = []
    /// HOTP: the number of the next code.
    package var counter: UInt64 = 0
    /// The last challenge, kept for ``Properties/increasing``.
    package var lastChallenge: [UInt8] = []

    package init(
        name: [UInt8], kind: Kind, hash: Hash = .sha1, digits: UInt8 = 6, secret: [UInt8],
        properties: Properties = [], counter: UInt64 = 0
    ) {
        self.name = name
        self.kind = kind
        self.hash = hash
        self.digits = digits
        self.secret = secret
        self.properties = properties
        self.counter = counter
    }

    /// The kind and the hash in one byte.
    var typeByte: UInt8 { kind.rawValue | hash.rawValue }

    /// The HMAC of a message under the account's key.
    package func hmac(_ message: [UInt8]) -> [UInt8] { hash.algorithm.hmac(key: Secret(secret), message) }

    /// Extracts four bytes of an HMAC at the offset in its last byte, top bit cleared (RFC 4226 §5.3).
    package static func truncated(_ hmac: [UInt8]) -> [UInt8] {
        guard let last = hmac.last, hmac.count >= 20 else { return [] }
        let offset = Int(last & 0x0F)
        return [hmac[offset] & 0x7F] + hmac[(offset + 1)...(offset + 3)]
    }
}
