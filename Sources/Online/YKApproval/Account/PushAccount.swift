// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKHTTP
import YKPIV
import YKTransport
public import YKWire

/// An account that approves the requests of a privacyIDEA server.
public struct PushAccount: Hashable, Sendable {
    /// The common fields of all accounts.
    public var account: ApprovalAccount
    /// The enrolled URL, to which all requests are sent.
    public let url: String
    /// The key with which the server signs its requests.
    public let serverKey: PublicKey
    /// The public key of the account.
    public let publicKey: PublicKey
    /// The location of the private key.
    public let place: ApprovalKeyPlace
    /// The address to which the server delivers requests; `nil` if they are only fetched.
    public var address: String?
    /// How the server is authenticated.
    public var trust: HTTPTrust
    /// The proof that the user must give before an approval; `nil` for none.
    public let proof: UserProof?

    /// Creates an account from the result of an enrollment.
    public init(
        _ link: PushLink, name: String, serverKey: PublicKey, publicKey: PublicKey, place: ApprovalKeyPlace,
        address: String?, trust: HTTPTrust, added: Int64, proof: UserProof? = nil
    ) {
        (url, self.serverKey, self.publicKey) = (link.url.description, serverKey, publicKey)
        (self.place, self.address, self.trust, self.proof) = (place, address, trust, proof)
        account = ApprovalAccount(
            .push, name: name, serial: link.serial, issuer: link.issuer, server: Self.server(of: link.url),
            added: added)
        account.details = details
    }

    /// Reads an account from the store; `nil` if it is of another kind or malformed.
    public init?(_ account: ApprovalAccount) {
        func key(_ name: String) -> PublicKey? {
            account.details[name]?.string.flatMap { try? Base64.decode($0) }.flatMap {
                try? PublicKey(subjectPublicKeyInfo: $0)
            }
        }
        guard account.kind == .push, let url = account.details["url"]?.string, let serverKey = key("serverKey"),
            let publicKey = key("publicKey"), let place = account.details["key"].flatMap({ ApprovalKeyPlace($0) }),
            let trust = account.details["trust"].flatMap({ HTTPTrust(json: $0) })
        else { return nil }
        // An account whose proof is malformed must not be used without a proof.
        let required = account.details["proof"] ?? .null
        let proof = UserProof(required)
        guard proof != nil || required == .null else { return nil }
        (self.account, self.proof) = (account, proof)
        (self.url, self.serverKey, self.publicKey, self.place) = (url, serverKey, publicKey, place)
        (address, self.trust) = (account.details["address"]?.string, trust)
    }

    /// The account in the form for the store.
    public var stored: ApprovalAccount { account.with(details) }

    /// Whether each background poll would require a touch.
    public var needsTouch: Bool {
        guard case .piv(let place) = place else { return false }
        return place.policies.touch != .never && place.policies.touch != .default
    }

    /// Host and port of a server.
    public static func server(of url: HTTPURL) -> String {
        let origin = Array(url.origin.utf8)
        let start = url.usesTLS ? 8 : 7
        return String(decoding: origin.dropFirst(start), as: UTF8.self)
    }

    private var details: JSONValue.Object {
        var object = JSONValue.Object()
        object["url"] = .string(url)
        object["serverKey"] = .string(Base64.encodeURL(serverKey.subjectPublicKeyInfo))
        object["publicKey"] = .string(Base64.encodeURL(publicKey.subjectPublicKeyInfo))
        object["key"] = place.json
        object["address"] = address.map(JSONValue.string) ?? .null
        object["trust"] = trust.json
        if let proof { object["proof"] = proof.json }
        return object
    }
}

extension HTTPTrust {
    /// The form in the store.
    public var json: JSONValue {
        [
            "authorities": authorities.map(JSONValue.string) ?? .null,
            "pins": .array(pins.map { .string($0.description) }), "verified": .bool(verifiesCertificate),
        ]
    }

    /// Reads the form in the store; `nil` if a pin is malformed.
    public init?(json: JSONValue) {
        guard let list = json["pins"]?.array, let isVerified = json["verified"]?.bool else { return nil }
        var pins: [HTTPPin] = []
        for item in list {
            guard let pin = item.string.flatMap({ try? HTTPPin($0) }) else { return nil }
            pins.append(pin)
        }
        self.init(authorities: json["authorities"]?.string, pins: pins)
        verifiesCertificate = isVerified
    }
}
