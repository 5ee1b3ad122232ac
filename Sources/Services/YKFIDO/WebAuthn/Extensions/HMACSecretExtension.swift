// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// hmacCreateSecret and hmacGetSecret: hmac-secret with raw salts (CTAP 2.2 §12.7, §12.8).
public struct HMACSecretExtension: ClientExtension {
    /// Creates the extension.
    public init() {}

    /// Reads `hmacCreateSecret`, and `hmacGetSecret` for keys that derive secrets at creation.
    public func prepare(_ request: inout RegistrationRequest, _ ceremony: CreationCeremony) throws(WebAuthnError) {
        if try ceremony.inputs.optional("hmacCreateSecret", .bool) == true {
            request.extensions.createsHMACSecret = true
        }
        guard let salts = try Self.salts(ceremony.inputs, isFree: request.extensions.salts == nil) else { return }
        request.extensions.salts = salts
    }

    /// `hmacCreateSecret`, and `hmacGetSecret` if the key has already derived secrets.
    public func finish(
        _ results: inout JSONValue.Object, _ registration: Registration, _ ceremony: CreationCeremony
    ) throws(WebAuthnError) {
        if try ceremony.inputs.optional("hmacCreateSecret", .bool) == true {
            results["hmacCreateSecret"] = .bool(registration.extensions.hasHMACSecret)
        }
        guard ceremony.inputs["hmacGetSecret"] != nil else { return }
        results["hmacGetSecret"] = registration.extensions.secrets?.json("output1", "output2")
    }

    /// Reads `hmacGetSecret`.
    public func prepare(_ request: inout AssertionRequest, _ ceremony: RequestCeremony) throws(WebAuthnError) {
        let isFree = request.extensions.salts == nil && request.extensions.saltsByCredential.isEmpty
        guard let salts = try Self.salts(ceremony.inputs, isFree: isFree), ceremony.keyKnows("hmac-secret") else {
            return
        }
        request.extensions.salts = salts
    }

    /// `hmacGetSecret`.
    public func finish(
        _ results: inout JSONValue.Object, _ assertion: Assertion, _ ceremony: RequestCeremony
    ) throws(WebAuthnError) {
        guard ceremony.inputs["hmacGetSecret"] != nil else { return }
        results["hmacGetSecret"] = assertion.extensions.secrets?.json("output1", "output2")
    }

    private static func salts(_ inputs: JSONMembers, isFree: Bool) throws(WebAuthnError) -> HMACSecretSalts? {
        guard let members = try inputs.members("hmacGetSecret") else { return nil }
        let first = try members.required("salt1", .bytes)
        guard let salts = HMACSecretSalts(first, try members.optional("salt2", .bytes)) else {
            throw .member(inputs.path(of: "hmacGetSecret"), problem: "each salt must have 32 bytes")
        }
        guard isFree else {
            throw .member(
                inputs.path(of: "hmacGetSecret"), problem: "prf already requests the same", name: .notSupported)
        }
        return salts
    }
}
