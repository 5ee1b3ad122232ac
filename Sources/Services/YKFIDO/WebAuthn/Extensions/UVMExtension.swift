// SPDX-License-Identifier: Apache-2.0

public import YKWire

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
