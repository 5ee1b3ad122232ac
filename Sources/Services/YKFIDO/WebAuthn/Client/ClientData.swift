// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKWire

/// The client data of a ceremony (WebAuthn Level 3 §5.8.1); the credential signs its hash.
public struct ClientData: Hashable, Sendable {
    /// The type of a ceremony.
    public struct Kind: OpenSet {
        /// The name.
        public let rawValue: String
        /// Wraps a name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Creation of a credential.
        public static let create = Kind(rawValue: "webauthn.create")
        /// An assertion.
        public static let get = Kind(rawValue: "webauthn.get")
        /// An assertion for a payment (Secure Payment Confirmation §7).
        public static let payment = Kind(rawValue: "payment.get")
    }

    /// The type of the ceremony.
    public let type: Kind
    /// The relying party's challenge.
    public let challenge: [UInt8]
    /// The caller's origin, as a browser writes it.
    public let origin: String
    /// Whether the caller's page was embedded in a page of another origin; `nil` if unspecified.
    public let crossOrigin: Bool?
    /// The origin of the outermost page, if it is another one.
    public let topOrigin: String?
    /// Unrecognized members, such as `payment`, in order.
    public let others: JSONValue.Object
    /// The JSON in UTF-8, which is hashed.
    public let bytes: [UInt8]

    /// SHA-256 of the JSON.
    public var hash: [UInt8] { HashAlgorithm.sha256.hash(bytes) }

    /// Serializes client data as every client does, byte for byte (WebAuthn Level 3 §5.8.1.1).
    public init(
        _ type: Kind, challenge: [UInt8], origin: String, crossOrigin: Bool = false, topOrigin: String? = nil,
        others: JSONValue.Object = JSONValue.Object()
    ) {
        self.type = type
        self.challenge = challenge
        self.origin = origin
        self.crossOrigin = crossOrigin
        self.topOrigin = topOrigin
        self.others = others
        var text = "{\"type\":".utf8 + Self.string(type.rawValue)
        text += ",\"challenge\":".utf8 + Self.string(Base64.encodeURL(challenge))
        text += ",\"origin\":".utf8 + Self.string(origin)
        text += (crossOrigin ? ",\"crossOrigin\":true" : ",\"crossOrigin\":false").utf8
        if let topOrigin { text += ",\"topOrigin\":".utf8 + Self.string(topOrigin) }
        if others.members.isEmpty {
            text += "}".utf8
        } else {
            text += [0x2C] + JSONValue.object(others).text.utf8.dropFirst()
        }
        bytes = text
    }

    /// A quoted string, as CCDToString writes it.
    private static func string(_ text: String) -> [UInt8] {
        var out: [UInt8] = [0x22]
        for byte in text.utf8 {
            switch byte {
            case 0x22: out += [0x5C, 0x22]
            case 0x5C: out += [0x5C, 0x5C]
            case 0..<0x20: out += ("\\u00" + Hex.encode([byte])).utf8
            default: out.append(byte)
            }
        }
        return out + [0x22]
    }
}

extension ClientData {
    /// Parses client data of any client; unknown members are kept.
    public init(parsing bytes: [UInt8]) throws(WebAuthnError) {
        let json: JSONValue
        do { json = try JSONValue(parsing: bytes.starts(with: Self.mark) ? Array(bytes.dropFirst(3)) : bytes) } catch {
            throw .json(error)
        }
        let members = try JSONMembers(json)
        type = Kind(rawValue: try members.required("type", .string))
        challenge = try members.required("challenge", .bytes)
        origin = try members.required("origin", .string)
        crossOrigin = try members.optional("crossOrigin", .bool)
        topOrigin = try members.optional("topOrigin", .string)
        var others = members.object
        for key in ["type", "challenge", "origin", "crossOrigin", "topOrigin"] { others[key] = nil }
        self.others = others
        self.bytes = bytes
    }

    /// A byte order mark, which a relying party ignores (UTF-8 decode, WebAuthn Level 3 §7.1).
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
}
