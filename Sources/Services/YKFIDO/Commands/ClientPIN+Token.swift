// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKProtocols
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
