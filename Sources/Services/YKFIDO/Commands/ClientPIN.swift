// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKWire

/// Sets, changes and checks the PIN, and gives tokens for it (authenticatorClientPIN, CTAP 2.2 §6.5.5).
public enum ClientPIN {
    /// What a token permits (CTAP 2.2 §6.5.5.7).
    public struct Permissions: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt64
        /// Wraps bits.
        public init(rawValue: UInt64) { self.rawValue = rawValue }
        /// mc: to make credentials.
        public static let makeCredential = Permissions(rawValue: 0x01)
        /// ga: to get assertions.
        public static let getAssertion = Permissions(rawValue: 0x02)
        /// cm: to list, change and delete credentials.
        public static let credentialManagement = Permissions(rawValue: 0x04)
        /// be: to enrol fingerprints.
        public static let bioEnrollment = Permissions(rawValue: 0x08)
        /// lbw: to write large blobs.
        public static let largeBlobWrite = Permissions(rawValue: 0x10)
        /// acfg: to configure the key.
        public static let config = Permissions(rawValue: 0x20)
        /// pcmr: to list credentials, with a token that lasts.
        public static let persistentCredentialManagementReadOnly = Permissions(rawValue: 0x40)
    }

    /// Asks how many wrong PINs are left (subcommand 1).
    public struct GetPINRetries: CTAPCommand, Sendable, Hashable {
        let version: PINProtocol
        /// Makes a command; keys of CTAP 2.0 want the protocol in every subcommand.
        public init(_ version: PINProtocol = .one) { self.version = version }
        /// The command byte.
        public var code: CTAPCommandCode { .clientPIN }
        /// The name in the specification.
        public var name: String { "clientPIN getPINRetries" }
        /// The parameters.
        public var parameters: CBOR.Map? { [1: .unsigned(version.rawValue), 2: 1] }
        /// Reads the answer.
        public func decode(_ fields: CBOR.Fields) throws(WireError) -> PINRetries {
            PINRetries(
                count: Int(clamping: try fields.required(3, .unsigned)),
                needsPowerCycle: try fields.optional(4, .bool) ?? false)
        }
    }

    /// Asks how many failed user verifications are left (subcommand 7).
    public struct GetUVRetries: CTAPCommand, Sendable, Hashable {
        let version: PINProtocol
        /// Makes a command; keys of CTAP 2.0 want the protocol in every subcommand.
        public init(_ version: PINProtocol = .one) { self.version = version }
        /// The command byte.
        public var code: CTAPCommandCode { .clientPIN }
        /// The name in the specification.
        public var name: String { "clientPIN getUVRetries" }
        /// The parameters.
        public var parameters: CBOR.Map? { [1: .unsigned(version.rawValue), 2: 7] }
        /// Reads the answer.
        public func decode(_ fields: CBOR.Fields) throws(WireError) -> Int {
            Int(clamping: try fields.required(5, .unsigned))
        }
    }

    /// Asks for the key's side of a key agreement (subcommand 2).
    public struct GetKeyAgreement: CTAPCommand, Sendable, Hashable {
        let version: PINProtocol
        /// Creates a command.
        public init(_ version: PINProtocol) { self.version = version }
        /// The command byte.
        public var code: CTAPCommandCode { .clientPIN }
        /// The name in the specification.
        public var name: String { "clientPIN getKeyAgreement" }
        /// The parameters.
        public var parameters: CBOR.Map? { [1: .unsigned(version.rawValue), 2: 2] }
        /// Reads the answer.
        public func decode(_ fields: CBOR.Fields) throws(WireError) -> COSEKey {
            guard let inner = try fields.optionalFields(1) else {
                throw WireError(.missing, at: 0, "key 1 of \(name): expected a map, it is not there")
            }
            return try COSEKey(inner)
        }
    }
}

/// How many wrong PINs are left.
public struct PINRetries: Hashable, Sendable {
    /// Wrong PINs until the key is blocked for good.
    public let count: Int
    /// Whether the key takes no PIN before it was unplugged and plugged in again.
    public let needsPowerCycle: Bool

    /// Creates a value.
    public init(count: Int, needsPowerCycle: Bool = false) {
        self.count = count
        self.needsPowerCycle = needsPowerCycle
    }
}
