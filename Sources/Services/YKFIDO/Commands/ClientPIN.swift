// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKProtocols
public import YKWire

/// Sets, changes and verifies the PIN, and issues tokens (authenticatorClientPIN, CTAP 2.2 §6.5.5).
public enum ClientPIN {
    typealias Key = CTAPProtocol.ClientPIN.Request
    private typealias Reply = CTAPProtocol.ClientPIN.Reply

    /// The parameters that every subcommand has.
    static func request(_ subcommand: CTAPProtocol.ClientPIN.Subcommand, _ version: PINProtocol) -> CBOR.Map {
        CBOR.Map(keys: [Key.pinUvAuthProtocol: .unsigned(version.rawValue), Key.subCommand: subcommand.cbor])
    }

    /// What a token permits (CTAP 2.2 §6.5.5.7).
    public struct Permissions: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt64
        /// Wraps bits.
        public init(rawValue: UInt64) { self.rawValue = rawValue }
        /// mc: make credentials.
        public static let makeCredential = Permissions(rawValue: 0x01)
        /// ga: get assertions.
        public static let getAssertion = Permissions(rawValue: 0x02)
        /// cm: list, change and delete credentials.
        public static let credentialManagement = Permissions(rawValue: 0x04)
        /// be: enroll fingerprints.
        public static let bioEnrollment = Permissions(rawValue: 0x08)
        /// lbw: write large blobs.
        public static let largeBlobWrite = Permissions(rawValue: 0x10)
        /// acfg: configure the key.
        public static let config = Permissions(rawValue: 0x20)
        /// pcmr: list credentials, with a persistent token.
        public static let persistentCredentialManagementReadOnly = Permissions(rawValue: 0x40)
    }

    /// Reads the number of PIN retries (subcommand 1).
    public struct GetPINRetries: CTAPCommand, Sendable, Hashable {
        let version: PINProtocol
        /// Creates a command; CTAP 2.0 keys require the protocol in every subcommand.
        public init(_ version: PINProtocol = .one) { self.version = version }
        /// The command byte.
        public var code: CTAPCommandCode { .clientPIN }
        /// The name in the specification.
        public var name: String { "clientPIN getPINRetries" }
        /// The parameters.
        public var parameters: CBOR.Map? { ClientPIN.request(.getPINRetries, version) }
        /// Reads the answer.
        public func decode(_ fields: CBOR.Fields) throws(WireError) -> PINRetries {
            PINRetries(
                count: Int(clamping: try fields.required(Reply.pinRetries, .unsigned)),
                needsPowerCycle: try fields.optional(Reply.powerCycleState, .bool) ?? false)
        }
    }

    /// Reads the number of user verification retries (subcommand 7).
    public struct GetUVRetries: CTAPCommand, Sendable, Hashable {
        let version: PINProtocol
        /// Creates a command; CTAP 2.0 keys require the protocol in every subcommand.
        public init(_ version: PINProtocol = .one) { self.version = version }
        /// The command byte.
        public var code: CTAPCommandCode { .clientPIN }
        /// The name in the specification.
        public var name: String { "clientPIN getUVRetries" }
        /// The parameters.
        public var parameters: CBOR.Map? { ClientPIN.request(.getUVRetries, version) }
        /// Reads the answer.
        public func decode(_ fields: CBOR.Fields) throws(WireError) -> Int {
            Int(clamping: try fields.required(Reply.uvRetries, .unsigned))
        }
    }

    /// Reads the key's public key for a key agreement (subcommand 2).
    public struct GetKeyAgreement: CTAPCommand, Sendable, Hashable {
        let version: PINProtocol
        /// Creates a command.
        public init(_ version: PINProtocol) { self.version = version }
        /// The command byte.
        public var code: CTAPCommandCode { .clientPIN }
        /// The name in the specification.
        public var name: String { "clientPIN getKeyAgreement" }
        /// The parameters.
        public var parameters: CBOR.Map? { ClientPIN.request(.getKeyAgreement, version) }
        /// Reads the answer.
        public func decode(_ fields: CBOR.Fields) throws(WireError) -> COSEKey {
            guard let inner = try fields.optionalFields(Reply.keyAgreement) else {
                throw WireError(.missing, at: 0, "key 1 of \(name): expected a map, got nothing")
            }
            return try COSEKey(inner)
        }
    }
}

/// The PIN retry counter.
public struct PINRetries: Hashable, Sendable {
    /// The number of wrong PINs until the PIN is blocked.
    public let count: Int
    /// Whether the key accepts no PIN until it is unplugged and plugged in again.
    public let needsPowerCycle: Bool

    /// Creates a value.
    public init(count: Int, needsPowerCycle: Bool = false) {
        self.count = count
        self.needsPowerCycle = needsPowerCycle
    }
}

extension PINRetries: CustomStringConvertible {
    /// The remaining retries, in words.
    public var description: String {
        "\(count) tries left" + (needsPowerCycle ? ", once the key is unplugged and plugged in again" : "")
    }
}

extension ClientPIN {
    /// Sets the first PIN (subcommand 3).
    public struct SetPIN: CTAPCommand, Sendable, Hashable {
        /// No response data.
        public typealias Response = Void
        let version: PINProtocol
        let platformKey: COSEKey
        let newPIN: [UInt8]
        let proof: [UInt8]

        /// Creates a command from an encrypted PIN and its proof.
        public init(_ version: PINProtocol, platformKey: COSEKey, newPIN: [UInt8], proof: [UInt8]) {
            self.version = version
            self.platformKey = platformKey
            self.newPIN = newPIN
            self.proof = proof
        }

        /// The command byte.
        public var code: CTAPCommandCode { .clientPIN }
        /// The name in the specification.
        public var name: String { "clientPIN setPIN" }
        /// The parameters.
        public var parameters: CBOR.Map? {
            var map = ClientPIN.request(.setPIN, version)
            map[Key.keyAgreement] = .map(platformKey.map)
            map[Key.pinUvAuthParam] = .bytes(proof)
            map[Key.newPinEnc] = .bytes(newPIN)
            return map
        }
    }

    /// Changes the PIN (subcommand 4).
    public struct ChangePIN: CTAPCommand, Sendable, Hashable {
        /// No response data.
        public typealias Response = Void
        let version: PINProtocol
        let platformKey: COSEKey
        let newPIN: [UInt8]
        let pinHash: [UInt8]
        let proof: [UInt8]

        /// Creates a command from the encrypted new PIN, the encrypted hash of the old one, and the proof over both.
        public init(
            _ version: PINProtocol, platformKey: COSEKey, newPIN: [UInt8], pinHash: [UInt8], proof: [UInt8]
        ) {
            self.version = version
            self.platformKey = platformKey
            self.newPIN = newPIN
            self.pinHash = pinHash
            self.proof = proof
        }

        /// The command byte.
        public var code: CTAPCommandCode { .clientPIN }
        /// The name in the specification.
        public var name: String { "clientPIN changePIN" }
        /// The parameters.
        public var parameters: CBOR.Map? {
            var map = ClientPIN.request(.changePIN, version)
            map[Key.keyAgreement] = .map(platformKey.map)
            map[Key.pinUvAuthParam] = .bytes(proof)
            map[Key.newPinEnc] = .bytes(newPIN)
            map[Key.pinHashEnc] = .bytes(pinHash)
            return map
        }
    }

    /// Requests a token by PIN or built-in user verification (subcommands 5, 6 and 9). The response is the encrypted
    /// token.
    public struct GetToken: CTAPCommand, Sendable, Hashable {
        /// How the token is granted, and for what.
        public enum Grant: Sendable, Hashable {
            /// By the encrypted hash of the PIN, with the permissions of CTAP 2.0 (subcommand 5).
            case pin(hash: [UInt8])
            /// By the encrypted hash of the PIN, with the requested permissions (subcommand 9).
            case pinWithPermissions(hash: [UInt8], Permissions, rpID: String?)
            /// By built-in user verification, with the requested permissions (subcommand 6).
            case userVerification(Permissions, rpID: String?)
        }

        let version: PINProtocol
        let platformKey: COSEKey
        let grant: Grant

        /// Creates a command.
        public init(_ version: PINProtocol, platformKey: COSEKey, _ grant: Grant) {
            self.version = version
            self.platformKey = platformKey
            self.grant = grant
        }

        /// The command byte.
        public var code: CTAPCommandCode { .clientPIN }

        /// The name in the specification.
        public var name: String { "clientPIN \(subcommand.name)" }

        private var subcommand: CTAPProtocol.ClientPIN.Subcommand {
            switch grant {
            case .pin: .getPinToken
            case .pinWithPermissions: .getPinUvAuthTokenUsingPinWithPermissions
            case .userVerification: .getPinUvAuthTokenUsingUvWithPermissions
            }
        }

        /// The parameters.
        public var parameters: CBOR.Map? {
            var map = ClientPIN.request(subcommand, version)
            map[Key.keyAgreement] = .map(platformKey.map)
            switch grant {
            case .pin(let hash): map[Key.pinHashEnc] = .bytes(hash)
            case .pinWithPermissions(let hash, let permissions, let rpID):
                map[Key.pinHashEnc] = .bytes(hash)
                map[Key.permissions] = .unsigned(permissions.rawValue)
                map[Key.rpId] = rpID.map(CBOR.text)
            case .userVerification(let permissions, let rpID):
                map[Key.permissions] = .unsigned(permissions.rawValue)
                map[Key.rpId] = rpID.map(CBOR.text)
            }
            return map
        }

        /// Reads the encrypted token.
        public func decode(_ fields: CBOR.Fields) throws(WireError) -> [UInt8] {
            try fields.required(CTAPProtocol.ClientPIN.Reply.pinUvAuthToken, .bytes)
        }
    }
}
