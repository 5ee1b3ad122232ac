// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKProtocols
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
}
