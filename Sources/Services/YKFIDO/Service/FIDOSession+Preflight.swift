// SPDX-License-Identifier: Apache-2.0

import YKWire

extension FIDOSession {
    /// The credentials of a list to send: all of them if they fit the key's limits, otherwise those that the key has,
    /// found without a touch.
    func fitting(
        _ list: [CredentialDescriptor], rpID: String, _ means: VerificationMeans
    ) throws(FIDOError) -> [CredentialDescriptor] {
        let possible = try possible(list)
        guard possible.count > (try listLimit()) || Self.size(possible) > ctap.messageLimit - 640 else {
            return possible
        }
        return try found(possible, rpID: rpID, means).map { [$0] } ?? []
    }

    /// The one credential of a list that the key has, found without a touch.
    func sole(
        _ list: [CredentialDescriptor], rpID: String, _ means: VerificationMeans
    ) throws(FIDOError) -> [CredentialDescriptor] {
        let possible = try possible(list)
        guard possible.count > 1 else { return possible }
        return try found(possible, rpID: rpID, means).map { [$0] } ?? []
    }

    /// Returns whether the key reports, without touch and user verification, that it has one of these.
    func has(_ list: [CredentialDescriptor], for rpID: String) throws(FIDOError) -> Bool {
        do { return try found(try possible(list), rpID: rpID, .none) != nil } catch .pinNeeded { return false }
    }

    private func possible(_ list: [CredentialDescriptor]) throws(FIDOError) -> [CredentialDescriptor] {
        let longest = try info().maxCredentialIDLength ?? UInt64(AuthenticatorData.credentialIDLimit)
        return list.filter { $0.id.count <= Int(clamping: longest) }
    }

    /// Maximum number of credentials in a list, at least one. CTAP 2.0 keys do not report it; some refuse long lists
    /// (Solo 4 those with more than 20).
    private func listLimit() throws(FIDOError) -> Int {
        max(1, Int(clamping: try info().maxCredentialsInList ?? Self.unsaidListLimit))
    }

    private static let unsaidListLimit: UInt64 = 8

    private func found(
        _ list: [CredentialDescriptor], rpID: String, _ means: VerificationMeans
    ) throws(FIDOError) -> CredentialDescriptor? {
        for batch in batches(list, most: try listLimit()) {
            if let hit = try known(batch, rpID: rpID, means) { return hit }
        }
        return nil
    }

    /// The credential of a batch that the key has, found without a touch (CTAP 2.2 §6.1.1, pre-flight).
    private func known(
        _ batch: [CredentialDescriptor], rpID: String, _ means: VerificationMeans
    ) throws(FIDOError) -> CredentialDescriptor? {
        let hash = [UInt8](repeating: 0, count: 32)
        var command = GetAssertion(rpID: rpID, clientDataHash: hash, allowList: batch)
        command.requiresPresence = false
        command.auth = means.auth(over: hash)
        do {
            let response = try send(command)
            guard let credential = response.credential else { return batch.count == 1 ? batch[0] : nil }
            return batch.first { $0.id == credential.id }
        } catch .noCredentials {
            return nil
        }
    }

    private func batches(_ list: [CredentialDescriptor], most: Int) -> [[CredentialDescriptor]] {
        var batches: [[CredentialDescriptor]] = []
        for entry in list {
            let fits = batches.last.map {
                $0.count < most && Self.size($0 + [entry]) <= ctap.messageLimit - 256
            }
            if fits == true, let last = batches.indices.last {
                batches[last].append(entry)
            } else {
                batches.append([entry])
            }
        }
        return batches
    }

    private static func size(_ list: [CredentialDescriptor]) -> Int { CBOR.array(list.map(\.cbor)).encoded.count }
}
