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

/// uvm: the user verification methods used (WebAuthn Level 2 §10.3).
public struct UVMExtension: ClientExtension {
    /// Creates the extension.
    public init() {}

    /// Reads `uvm`.
    public func prepare(_ request: inout RegistrationRequest, _ ceremony: CreationCeremony) throws(WebAuthnError) {
        guard try ceremony.inputs.optional("uvm", .bool) == true, ceremony.keyKnows("uvm") else { return }
        request.extensions.others["uvm"] = true
    }

    /// `uvm`: three numbers for each method: the method, its key protection and its matcher protection.
    public func finish(
        _ results: inout JSONValue.Object, _ registration: Registration, _ ceremony: CreationCeremony
    ) {
        guard ceremony.inputs["uvm"] != nil else { return }
        results["uvm"] = Self.entries(registration.extensions.all)
    }

    /// Reads `uvm`.
    public func prepare(_ request: inout AssertionRequest, _ ceremony: RequestCeremony) throws(WebAuthnError) {
        guard try ceremony.inputs.optional("uvm", .bool) == true, ceremony.keyKnows("uvm") else { return }
        request.extensions.others["uvm"] = true
    }

    /// `uvm`: three numbers for each method: the method, its key protection and its matcher protection.
    public func finish(_ results: inout JSONValue.Object, _ assertion: Assertion, _ ceremony: RequestCeremony) {
        guard ceremony.inputs["uvm"] != nil else { return }
        results["uvm"] = Self.entries(assertion.extensions.all)
    }

    /// One to three entries of three numbers; anything else is ignored.
    private static func entries(_ map: CBOR.Map) -> JSONValue? {
        guard let list = map["uvm"]?.array, (1...3).contains(list.count) else { return nil }
        let entries = list.map { $0.array?.compactMap { $0.unsigned.flatMap(UInt32.init(exactly:)) } ?? [] }
        guard entries.allSatisfy({ $0.count == 3 }) else { return nil }
        return .array(entries.map { .array($0.map { .int(Int64($0)) }) })
    }
}
