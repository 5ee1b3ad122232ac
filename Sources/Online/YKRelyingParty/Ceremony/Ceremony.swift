// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
public import YKWire

/// A relying party's state for a ceremony in progress.
public struct Ceremony: Hashable, Sendable {
    /// The operation of a ceremony.
    public enum Kind: String, Hashable, Sendable {
        /// A credential is created.
        case registration
        /// A credential signs.
        case authentication
    }

    /// The operation of the ceremony.
    public let kind: Kind
    /// The challenge, 32 random bytes.
    public let challenge: [UInt8]
    /// The web server session that started it.
    public let session: String
    /// The time at which it expires, in seconds since 1970-01-01 00:00 UTC.
    public let expires: Int64
    /// The user handle of the account; `nil` if the answer must identify it.
    public var user: [UInt8]?
    /// Whether the user must be verified.
    public var userVerification = UserVerification.preferred
    /// Whether the browser may create the credential without a gesture (conditional mediation).
    public var isConditional = false
    /// The algorithms offered, for a registration.
    public var algorithms: [COSEAlgorithm] = []
    /// The credentials allowed, for an authentication; empty for any.
    public var allowedCredentials: [[UInt8]] = []
    /// The extension inputs in JSON form.
    public var extensions = JSONValue.Object()

    init(_ kind: Kind, challenge: [UInt8], session: String, expires: Int64) {
        self.kind = kind
        self.challenge = challenge
        self.session = session
        self.expires = expires
    }
}

extension Ceremony {
    /// The ceremony as JSON, for a store. It contains no secret, but must be protected from modification.
    public var json: JSONValue {
        .object(
            JSONValue.Object([
                ("kind", .string(kind.rawValue)), ("challenge", .bytes(challenge)), ("session", .string(session)),
                ("expires", .int(expires)), ("user", user.map(JSONValue.bytes)),
                ("userVerification", .string(userVerification.rawValue)), ("conditional", .bool(isConditional)),
                ("algorithms", .array(algorithms.map { .int($0.rawValue) })),
                ("allowedCredentials", .array(allowedCredentials.map(JSONValue.bytes))),
                ("extensions", .object(extensions)),
            ]))
    }

    /// Reads a ceremony from its ``json``.
    ///
    /// - Throws: `member` with the path of the invalid member.
    public init(json: JSONValue) throws(WebAuthnError) {
        let members = try JSONMembers(json)
        guard let kind = Kind(rawValue: try members.required("kind", .string)),
            let verification = UserVerification(rawValue: try members.required("userVerification", .string))
        else { throw .member("kind", problem: "not a ceremony") }
        self.init(
            kind, challenge: try members.required("challenge", .bytes),
            session: try members.required("session", .string), expires: try members.required("expires", .int))
        user = try members.optional("user", .bytes)
        userVerification = verification
        isConditional = try members.required("conditional", .bool)
        algorithms = (try members.list("algorithms", of: .int) ?? []).map(COSEAlgorithm.init(rawValue:))
        allowedCredentials = try members.list("allowedCredentials", of: .bytes) ?? []
        extensions = try members.required("extensions", .object)
    }
}
