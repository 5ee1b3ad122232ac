// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKWire

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
            [
                1: .unsigned(version.rawValue), 2: 3, 3: .map(platformKey.map), 4: .bytes(proof), 5: .bytes(newPIN),
            ]
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
            [
                1: .unsigned(version.rawValue), 2: 4, 3: .map(platformKey.map), 4: .bytes(proof), 5: .bytes(newPIN),
                6: .bytes(pinHash),
            ]
        }
    }
}
