// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKWire

extension ClientPIN {
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
