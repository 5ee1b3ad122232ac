// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKInteraction
public import YKPIV
import YKProtocols
import YKWire

extension PIVUnlocking {
    /// Authenticates with the management key: the given one; else the default one, if the card still has it, which is
    /// reported; else the PIN-protected one; else one that the user is asked for.
    ///
    /// - Throws: `PIVUnlockingError`, `PIVError`, `CredentialError`, and what the broker's sources and person throw.
    public nonisolated(nonsending) func manage(for purpose: String) async throws {
        person.tell(OperationPurpose(purpose))
        let metadata = try await service.managementKeyMetadata()
        let id = CredentialID(.pivManagementKey, key: key)
        if credentials.isAtHand(CredentialRequest(id, to: purpose)) {
            return try await authenticate(CredentialRequest(id, to: purpose), metadata)
        }
        if metadata?.isDefault != false, try await useDefault(metadata) { return }
        if try await service.isManagementKeyProtected() { return try await useProtected(for: purpose) }
        if isRehearsal { throw PIVUnlockingError.rehearsalEnds }
        let kind = try await service.findManagementKeyType()
        let form = "\(kind), \((kind.keySize ?? 24) * 2) digits"
        try await authenticate(CredentialRequest(id, to: purpose, form: form), metadata)
    }

    /// Tries the default key, which uses no retries; returns whether it was correct.
    private nonisolated(nonsending) func useDefault(_ metadata: ManagementKeyMetadata?) async throws -> Bool {
        do { try await authenticate(.defaultKey(), metadata) } catch {
            switch error {
            case .wrongManagementKey where metadata?.isDefault != true: return false
            case .managementKeyLength where metadata?.isDefault != true: return false
            default: throw error
            }
        }
        if replacesManagementKey { return true }
        if refusesDefaultManagementKey { throw PIVUnlockingError.defaultManagementKey }
        person.tell(PIVUnlockingNews.defaultManagementKey)
        return true
    }

    private nonisolated(nonsending) func useProtected(for purpose: String) async throws {
        if isRehearsal { throw PIVUnlockingError.rehearsalEnds }
        let pin = try await obtainPIN(for: "use its management key and \(purpose)")
        try await sending { try await $0.authenticate(withProtectedKeyOf: try PIVPIN(pin.value)) }
    }

    private nonisolated(nonsending) func authenticate(
        _ request: CredentialRequest, _ metadata: ManagementKeyMetadata?
    ) async throws {
        let text = try await credentials.obtain(request)
        do { try await authenticate(ManagementKey(hexadecimal: text.value), metadata) } catch {
            credentials.failed(request.id, error)
            throw error
        }
        credentials.accepted(request.id)
    }

    private nonisolated(nonsending) func authenticate(
        _ key: consuming ManagementKey, _ metadata: ManagementKeyMetadata?
    ) async throws(PIVError) {
        guard let metadata, metadata.touch != .never else { return try await service.authenticate(with: key) }
        let wait = person.expectTouch(.required)
        defer { wait.end() }
        try await service.authenticate(with: key)
    }
}

extension ManagementKey {
    /// Reads a key that is written in hexadecimal digits; ignores spaces and colons.
    ///
    /// - Throws: `malformedManagementKey`.
    public init(hexadecimal text: borrowing Secret) throws(PIVUnlockingError) {
        var digits = text.copyBytes().filter { !Array(" :".utf8).contains($0) }
        defer { Secret.wipe(&digits) }
        guard var bytes = try? Hex.decode(String(decoding: digits, as: UTF8.self)), !bytes.isEmpty else {
            throw .malformedManagementKey
        }
        defer { Secret.wipe(&bytes) }
        self.init(Secret(bytes))
    }
}
