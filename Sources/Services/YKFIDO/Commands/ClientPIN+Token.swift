// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKWire

extension ClientPIN {
    /// Asks for a token in exchange for the PIN or a built-in user verification (subcommands 5, 6 and 9). The answer
    /// is the token, encrypted.
    public struct GetToken: CTAPCommand, Sendable, Hashable {
        /// What the token is given for.
        public enum Grant: Sendable, Hashable {
            /// The encrypted hash of the PIN; the token permits what CTAP 2.0 has (subcommand 5).
            case pin(hash: [UInt8])
            /// The encrypted hash of the PIN and the permissions that are wanted (subcommand 9).
            case pinWithPermissions(hash: [UInt8], Permissions, rpID: String?)
            /// The key's own user verification and the permissions that are wanted (subcommand 6).
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
        public var name: String {
            switch grant {
            case .pin: "clientPIN getPinToken"
            case .pinWithPermissions: "clientPIN getPinUvAuthTokenUsingPinWithPermissions"
            case .userVerification: "clientPIN getPinUvAuthTokenUsingUvWithPermissions"
            }
        }

        /// The parameters.
        public var parameters: CBOR.Map? {
            var map: CBOR.Map = [1: .unsigned(version.rawValue), 3: .map(platformKey.map)]
            switch grant {
            case .pin(let hash):
                map[2] = 5
                map[6] = .bytes(hash)
            case .pinWithPermissions(let hash, let permissions, let rpID):
                map[2] = 9
                map[6] = .bytes(hash)
                map[9] = .unsigned(permissions.rawValue)
                map[10] = rpID.map(CBOR.text)
            case .userVerification(let permissions, let rpID):
                map[2] = 6
                map[9] = .unsigned(permissions.rawValue)
                map[10] = rpID.map(CBOR.text)
            }
            return map
        }

        /// Reads the encrypted token.
        public func decode(_ fields: CBOR.Fields) throws(WireError) -> [UInt8] { try fields.required(2, .bytes) }
    }
}
