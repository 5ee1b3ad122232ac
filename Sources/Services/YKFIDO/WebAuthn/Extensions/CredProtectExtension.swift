// SPDX-License-Identifier: Apache-2.0

import YKWire

/// credProtect: when the credential can be used without user verification (CTAP 2.2 §12.1). It has no results: the
/// relying party reads the level in the authenticator data.
public struct CredProtectExtension: ClientExtension {
    /// Creates the extension.
    public init() {}

    /// Reads `credentialProtectionPolicy`, and `enforceCredentialProtectionPolicy`, which refuses a key without the
    /// extension.
    public func prepare(_ request: inout RegistrationRequest, _ ceremony: CreationCeremony) throws(WebAuthnError) {
        let inputs = ceremony.inputs
        let isEnforced = try inputs.optional("enforceCredentialProtectionPolicy", .bool) ?? false
        guard let name = try inputs.optional("credentialProtectionPolicy", .string) else { return }
        guard let level = CredentialProtection(name: name) else {
            throw .member(
                inputs.path(of: "credentialProtectionPolicy"),
                problem: "expected \(CredentialProtection.names.joined(separator: ", ")), got a different string")
        }
        request.extensions.protection = level
        request.extensions.enforcesProtection = isEnforced
    }
}

extension CredentialProtection {
    private static let levels: [CredentialProtection] = [.optional, .optionalWithList, .required]

    static var names: [String] { levels.map(\.description) }

    /// The level with this WebAuthn name.
    public init?(name: String) {
        guard let level = Self.levels.first(where: { $0.description == name }) else { return nil }
        self = level
    }
}
