// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKHTTP
import YKWire

/// A container: the tokens that a server groups for one device, and the device's key.
public struct ContainerAccount: Hashable, Sendable {
    /// A token that the device holds.
    public struct Token: Hashable, Sendable {
        /// The token's serial number at the server.
        public let serial: String
        /// The token's type in lower case: `totp`, `hotp`, `push`.
        public let type: String

        /// Creates a description of a token.
        public init(serial: String, type: String) {
            self.serial = serial
            self.type = type.lowercased()
        }
    }

    /// The properties common to all kinds of accounts.
    public var account: ApprovalAccount
    /// The server.
    public let server: HTTPURL
    /// The device's public key, on P-384.
    public let publicKey: PublicKey
    /// The location of the private key.
    public let place: ApprovalKeyPlace
    /// The device model sent to the server.
    public let model: String
    /// The tokens that the device holds.
    public var tokens: [Token] = []
    /// How the server is authenticated.
    public var trust: HTTPTrust
    /// The server's address as it appears in signatures.
    let address: String

    /// The container's serial number.
    public var serial: String { account.serial }

    /// Creates the account of a container registered with a link.
    public init(
        _ link: ContainerLink, name: String, publicKey: PublicKey, place: ApprovalKeyPlace, model: String,
        trust: HTTPTrust, added: Int64
    ) {
        (server, address, self.publicKey, self.place) = (link.server, link.address, publicKey, place)
        (self.model, self.trust) = (model, trust)
        account = ApprovalAccount(
            .container, name: name, serial: link.serial, issuer: link.issuer,
            server: PushAccount.server(of: link.server), added: added)
        account.details = details
    }

    /// Reads an account from the store; `nil` if it is of another kind or malformed.
    public init?(_ account: ApprovalAccount) {
        let details = account.details
        guard account.kind == .container, PushLink.isSerial(account.serial), let address = details["url"]?.string,
            let server = try? ContainerLink.server(address), let model = details["model"]?.string,
            let bytes = details["publicKey"]?.string.flatMap({ try? Base64.decode($0) }),
            let publicKey = try? PublicKey(subjectPublicKeyInfo: bytes),
            let place = details["key"].flatMap({ ApprovalKeyPlace($0) }),
            let trust = details["trust"].flatMap({ HTTPTrust(json: $0) }),
            let list = details["tokens"]?.array, list.count <= ContainerUpdate.limit
        else { return nil }
        for token in list {
            guard let serial = token["serial"]?.string, let type = token["type"]?.string, PushLink.isSerial(serial)
            else { return nil }
            tokens.append(Token(serial: serial, type: type))
        }
        self.account = account
        (self.address, self.server, self.publicKey, self.place) = (address, server, publicKey, place)
        (self.model, self.trust) = (model, trust)
    }

    /// The account in the form for the store.
    public var stored: ApprovalAccount { account.with(details) }

    private var details: JSONValue.Object {
        var object = JSONValue.Object()
        object["url"] = .string(address)
        object["publicKey"] = .string(Base64.encodeURL(publicKey.subjectPublicKeyInfo))
        object["key"] = place.json
        object["model"] = .string(model)
        object["trust"] = trust.json
        object["tokens"] = .array(tokens.map { ["serial": .string($0.serial), "type": .string($0.type)] })
        return object
    }

    /// The scope of a signature, which is part of the signed text.
    static func scope(_ address: String, _ operation: String) -> String { "\(address)/container/\(operation)" }

    /// Returns the text to sign for a registration (privacyIDEA, `register/finalize`).
    static func registration(_ link: ContainerLink, model: String, passphrase: String?) -> String {
        [link.nonce, link.time, link.serial, scope(link.address, "register/finalize"), brand, model]
            .joined(separator: "|") + (passphrase.map { "|\($0)" } ?? "")
    }

    /// The name of the program, which the server displays for the device.
    static let brand = "ykit"
}
