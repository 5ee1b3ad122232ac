// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// credBlob: a small blob in the credential (CTAP 2.2 §12.2).
public struct CredBlobExtension: ClientExtension {
    /// Creates the extension.
    public init() {}

    /// Reads `credBlob`, the bytes.
    public func prepare(_ request: inout RegistrationRequest, _ ceremony: CreationCeremony) throws(WebAuthnError) {
        request.extensions.blob = try ceremony.inputs.optional("credBlob", .bytes)
    }

    /// `credBlob`: whether the key stored the bytes.
    public func finish(
        _ results: inout JSONValue.Object, _ registration: Registration, _ ceremony: CreationCeremony
    ) {
        guard ceremony.inputs["credBlob"] != nil else { return }
        results["credBlob"] = .bool(registration.extensions.keptBlob ?? false)
    }

    /// Reads `getCredBlob`.
    public func prepare(_ request: inout AssertionRequest, _ ceremony: RequestCeremony) throws(WebAuthnError) {
        request.extensions.wantsBlob = try ceremony.inputs.optional("getCredBlob", .bool) ?? false
    }

    /// `getCredBlob`: the bytes, if the credential has any.
    public func finish(_ results: inout JSONValue.Object, _ assertion: Assertion, _ ceremony: RequestCeremony) {
        guard ceremony.inputs["getCredBlob"] != nil else { return }
        results["getCredBlob"] = assertion.extensions.blob.map(JSONValue.bytes)
    }
}
