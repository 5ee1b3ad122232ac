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

/// The inputs of the prf extension (WebAuthn Level 3 §10.1.4).
struct PRFInputs {
    let salts: HMACSecretSalts?
    let saltsByCredential: [[UInt8]: HMACSecretSalts]
    /// Whether there are salts per credential, possibly none.
    let isByCredential: Bool

    /// The member `prf`; `nil` if it is absent.
    init?(_ inputs: JSONMembers) throws(WebAuthnError) {
        guard let prf = try inputs.members("prf") else { return nil }
        salts = try prf.members("eval").map(Self.salts)
        let table = try prf.members("evalByCredential")
        isByCredential = table != nil
        var salts: [[UInt8]: HMACSecretSalts] = [:]
        for member in table?.object.members ?? [] {
            let path = prf.path(of: "evalByCredential.\(member.key)")
            guard let id = try? Base64.decode(member.key), !id.isEmpty else {
                throw .member(path, problem: "the key is not a credential identifier in base64url", name: .syntax)
            }
            salts[id] = try Self.salts(JSONMembers(member.value, at: path))
        }
        saltsByCredential = salts
    }

    private static func salts(_ members: JSONMembers) throws(WebAuthnError) -> HMACSecretSalts {
        HMACSecretSalts(prf: try members.required("first", .bytes), try members.optional("second", .bytes))
    }
}

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
