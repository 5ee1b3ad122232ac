// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Requirements for the key (WebAuthn Level 3 §5.4.4).
public struct AuthenticatorSelection: Hashable, Sendable {
    /// Whether it is built into the computer; `nil` for either.
    public var attachment: AuthenticatorAttachment?
    /// Whether the credential must be discoverable.
    public var residentKey: ResidentKeyRequirement
    /// Whether the user must be verified.
    public var userVerification: UserVerification

    /// Creates a selection, by default without requirements.
    public init(
        attachment: AuthenticatorAttachment? = nil, residentKey: ResidentKeyRequirement = .discouraged,
        userVerification: UserVerification = .preferred
    ) {
        self.attachment = attachment
        self.residentKey = residentKey
        self.userVerification = userVerification
    }
}

extension AuthenticatorSelection {
    /// Treats unknown values as absent; without `residentKey`, the older `requireResidentKey` is used.
    init(_ members: JSONMembers) throws(WebAuthnError) {
        attachment = try members.optional("authenticatorAttachment", .string).map(
            AuthenticatorAttachment.init(rawValue:))
        let isRequired = try members.optional("requireResidentKey", .bool) ?? false
        residentKey =
            try members.optional("residentKey", .string).flatMap(ResidentKeyRequirement.init(rawValue:))
            ?? (isRequired ? .required : .discouraged)
        userVerification = try UserVerification(members)
    }

    var json: JSONValue {
        .object(
            JSONValue.Object([
                ("authenticatorAttachment", attachment.map { .string($0.rawValue) }),
                ("residentKey", .string(residentKey.rawValue)),
                ("requireResidentKey", .bool(residentKey == .required)),
                ("userVerification", .string(userVerification.rawValue)),
            ]))
    }
}

extension UserVerification {
    /// The member `userVerification`; preferred if absent or unknown.
    init(_ members: JSONMembers) throws(WebAuthnError) {
        self = try members.optional("userVerification", .string).flatMap(Self.init(rawValue:)) ?? .preferred
    }
}
