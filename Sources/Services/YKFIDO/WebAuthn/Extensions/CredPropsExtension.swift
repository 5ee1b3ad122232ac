// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// credProps: whether the credential is discoverable (WebAuthn Level 3 §10.1.3).
public struct CredPropsExtension: ClientExtension {
    /// Creates the extension.
    public init() {}

    /// Checks that the input is a boolean.
    public func prepare(_ request: inout RegistrationRequest, _ ceremony: CreationCeremony) throws(WebAuthnError) {
        _ = try ceremony.inputs.optional("credProps", .bool)
    }

    /// `credProps.rk`.
    public func finish(
        _ results: inout JSONValue.Object, _ registration: Registration, _ ceremony: CreationCeremony
    ) throws(WebAuthnError) {
        guard try ceremony.inputs.optional("credProps", .bool) == true else { return }
        results["credProps"] = ["rk": .bool(registration.isResident)]
    }
}
