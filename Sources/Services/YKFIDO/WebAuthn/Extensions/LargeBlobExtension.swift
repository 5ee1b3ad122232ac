// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKWire

/// largeBlob: bytes stored with a credential (WebAuthn Level 3 §10.1.5), by largeBlobKey, or by largeBlob on keys
/// that store them with the credential (CTAP 2.3).
public struct LargeBlobExtension: ClientExtension {
    /// Creates the extension.
    public init() {}

    /// Reads `largeBlob.support`; `required` refuses keys without support, and non-discoverable credentials.
    public func prepare(_ request: inout RegistrationRequest, _ ceremony: CreationCeremony) throws(WebAuthnError) {
        guard let input = try ceremony.inputs.members("largeBlob") else { return }
        for name in ["read", "write"] where input[name] != nil {
            throw Self.misplaced(input.path(of: name), "only allowed for an existing credential")
        }
        let isRequired = try input.optional("support", .string) == "required"
        if ceremony.keyKnows("largeBlob") {
            request.extensions.largeBlob = isRequired ? .required : .preferred
            return
        }
        if isRequired, !request.isResident { throw .key(.unsupported("largeBlobKey")) }
        request.extensions.createsLargeBlobKey =
            isRequired || request.isResident && ceremony.keyKnows("largeBlobKey")
    }

    /// `largeBlob.supported`.
    public func finish(
        _ results: inout JSONValue.Object, _ registration: Registration, _ ceremony: CreationCeremony
    ) throws(WebAuthnError) {
        guard ceremony.inputs["largeBlob"] != nil else { return }
        let isSupported = registration.response.largeBlobKey != nil || registration.extensions.hasLargeBlob
        results["largeBlob"] = ["supported": .bool(isSupported)]
    }

    /// Reads `largeBlob.read` or `largeBlob.write`.
    public func prepare(_ request: inout AssertionRequest, _ ceremony: RequestCeremony) throws(WebAuthnError) {
        guard let task = try Task(ceremony) else { return }
        if ceremony.keyKnows("largeBlob") {
            request.extensions.largeBlob = task.direct
            return
        }
        guard ceremony.keyKnows("largeBlobKey") else { return }
        request.extensions.wantsLargeBlobKey = true
        if case .write = task { request.extensions.writesLargeBlob = true }
    }

    /// `largeBlob.blob` if there is one, or `largeBlob.written`.
    public func finish(
        _ results: inout JSONValue.Object, _ assertion: Assertion, _ ceremony: RequestCeremony
    ) async throws(WebAuthnError) {
        guard let task = try Task(ceremony) else { return }
        if ceremony.keyKnows("largeBlob") {
            results["largeBlob"] = task.result(of: assertion.extensions)
            return
        }
        let key = assertion.response.largeBlobKey.map { SharedSecret(Secret($0)) }
        switch task {
        case .read:
            let blob = if let key { try await read(ceremony.service, key) } else { nil as [UInt8]? }
            results["largeBlob"] = Task.found(blob)
        case .write(let blob):
            let isWritten = if let key { try await write(blob, ceremony.service, key) } else { false }
            results["largeBlob"] = ["written": .bool(isWritten)]
        }
    }

    private func read(_ service: FIDOService, _ key: SharedSecret) async throws(WebAuthnError) -> [UInt8]? {
        do { return try await service.largeBlob(key: key) } catch .largeBlobs { return nil } catch {
            throw WebAuthnError(error)
        }
    }

    /// Returns whether there was room for the blob.
    private func write(
        _ blob: [UInt8], _ service: FIDOService, _ key: SharedSecret
    ) async throws(WebAuthnError) -> Bool {
        do {
            try await service.setLargeBlob(blob, key: key)
            return true
        } catch {
            switch error {
            case .largeBlobs, .ctap(.status(.largeBlobStorageFull, _)): return false
            default: throw WebAuthnError(error)
            }
        }
    }

    private static func misplaced(_ member: String, _ problem: String) -> WebAuthnError {
        .member(member, problem: problem, name: .notSupported)
    }

    /// The requested operation on the blob.
    private enum Task {
        case read
        case write([UInt8])

        var direct: DirectLargeBlob.Action {
            switch self {
            case .read: .read
            case .write(let blob): .write(blob)
            }
        }

        func result(of outputs: AssertionExtensionOutputs) -> JSONValue {
            switch self {
            case .read: Self.found(outputs.largeBlob)
            case .write: ["written": .bool(outputs.wroteLargeBlob)]
            }
        }

        static func found(_ blob: [UInt8]?) -> JSONValue {
            .object(JSONValue.Object([("blob", blob.map(JSONValue.bytes))]))
        }

        init?(_ ceremony: RequestCeremony) throws(WebAuthnError) {
            guard let input = try ceremony.inputs.members("largeBlob") else { return nil }
            let isRead = try input.optional("read", .bool) ?? false
            let blob = try input.optional("write", .bytes)
            if input["support"] != nil {
                throw misplaced(input.path(of: "support"), "only allowed when creating a credential")
            }
            guard let blob else {
                guard isRead else { return nil }
                self = .read
                return
            }
            if isRead { throw misplaced(input.path(of: "write"), "either read or write") }
            guard ceremony.options.allowCredentials.count == 1 else {
                throw misplaced(input.path(of: "write"), "allowCredentials must name exactly one credential")
            }
            self = .write(blob)
        }
    }
}
