// SPDX-License-Identifier: Apache-2.0

import YKWire

/// minPinLength and pinComplexityPolicy: the rules for the key's PIN, returned in the authenticator data to relying
/// parties that the key is configured for (CTAP 2.2 §12.5, §12.9). They have no results.
public struct MinPINLengthExtension: ClientExtension {
    /// Creates the extension.
    public init() {}

    /// Reads `minPinLength` and `pinComplexityPolicy`.
    public func prepare(_ request: inout RegistrationRequest, _ ceremony: CreationCeremony) throws(WebAuthnError) {
        request.extensions.asksMinPINLength = try ceremony.inputs.optional("minPinLength", .bool) ?? false
        request.extensions.asksPINComplexity = try ceremony.inputs.optional("pinComplexityPolicy", .bool) ?? false
    }
}
