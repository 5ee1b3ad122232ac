// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKWire

/// prf: secrets that only the credential can derive, from inputs of the relying party (WebAuthn Level 3 §10.1.4), based
/// on hmac-secret and, for a new credential, hmac-secret-mc.
///
/// A key derives different secrets if its user was not verified, so with inputs to evaluate the user is verified
/// whenever the key supports it.
public struct PRFExtension: ClientExtension {
    /// Creates the extension.
    public init() {}

    /// Reads `prf.eval`; `prf.evalByCredential` throws, because there is no credential yet.
    public func prepare(_ request: inout RegistrationRequest, _ ceremony: CreationCeremony) throws(WebAuthnError) {
        guard let prf = try PRFInputs(ceremony.inputs) else { return }
        guard !prf.isByCredential else {
            throw .member(
                "extensions.prf.evalByCredential", problem: "only allowed for existing credentials",
                name: .notSupported)
        }
        request.extensions.createsHMACSecret = true
        guard let salts = prf.salts else { return }
        request.extensions.salts = salts
        if request.userVerification == .discouraged { request.userVerification = .preferred }
    }

    /// `prf.enabled`, and `prf.results` if the key has already derived them.
    public func finish(
        _ results: inout JSONValue.Object, _ registration: Registration, _ ceremony: CreationCeremony
    ) throws(WebAuthnError) {
        guard try PRFInputs(ceremony.inputs) != nil else { return }
        let outputs = registration.extensions
        results["prf"] = .object(
            JSONValue.Object([
                ("enabled", .bool(outputs.hasHMACSecret)),
                ("results", outputs.secrets?.json("first", "second")),
            ]))
    }

    /// Reads `prf.eval` and `prf.evalByCredential`, whose keys must be among the allowed credentials.
    public func prepare(_ request: inout AssertionRequest, _ ceremony: RequestCeremony) throws(WebAuthnError) {
        guard let prf = try PRFInputs(ceremony.inputs) else { return }
        let allowed = Set(ceremony.options.allowCredentials.map(\.id))
        if !prf.saltsByCredential.isEmpty, allowed.isEmpty {
            throw .member(
                "extensions.prf.evalByCredential", problem: "allowCredentials is empty", name: .notSupported)
        }
        for id in prf.saltsByCredential.keys where !allowed.contains(id) {
            throw .member(
                "extensions.prf.evalByCredential.\(Base64.encodeURL(id))", problem: "not in allowCredentials",
                name: .syntax)
        }
        guard ceremony.keyKnows("hmac-secret") else { return }
        request.extensions.salts = prf.salts
        request.extensions.saltsByCredential = prf.saltsByCredential
        let evaluates = prf.salts != nil || !prf.saltsByCredential.isEmpty
        if evaluates, request.userVerification == .discouraged { request.userVerification = .preferred }
    }

    /// `prf.results`.
    public func finish(
        _ results: inout JSONValue.Object, _ assertion: Assertion, _ ceremony: RequestCeremony
    ) throws(WebAuthnError) {
        guard try PRFInputs(ceremony.inputs) != nil else { return }
        results["prf"] = .object(JSONValue.Object([("results", assertion.extensions.secrets?.json("first", "second"))]))
    }
}

extension HMACSecrets {
    /// The secrets in base64url under these names. The caller requested them, so they leave protected memory here.
    func json(_ first: String, _ second: String) -> JSONValue {
        .object(
            JSONValue.Object([
                (first, .bytes(self.first.value.copyBytes())),
                (second, self.second.map { .bytes($0.value.copyBytes()) }),
            ]))
    }
}
