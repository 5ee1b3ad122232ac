// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import Verbs
import YKAge
import YKCrypto
import YKKeyAgent
import YKPIV
import YKSSH
import YKUse

extension AgentKeeper {
    /// Answers a request from age's plugin: whether the card has a key, or the file key that it unwraps.
    func answer(_ request: SSHExtensionRequest) async -> [UInt8]? {
        guard usesPIV, request.name == AgeUnwrapRequest.name, let wanted = try? AgeUnwrapRequest(request.content)
        else { return nil }
        do {
            keys.list(await identities())
            let found = try await BusyCard.retrying { try await card.use { try await key(wanted.key, &$0) } }
            guard let (slot, _) = found else { return nil }
            guard let wrapping = wanted.wrapping else { return AgeUnwrapAnswer.key.withBytes { $0 } }
            let use = AgentUse(.decrypt, key: "PIV \(slot.slot)", hops: request.hops)
            guard await isAllowed(use, needsConfirmation: request.needsConfirmation) else { return nil }
            let answer = try await BusyCard.retrying { try await unwrap(wrapping, wanted.key, use.purpose) }
            return answer?.withBytes { $0 }
        } catch {
            report(error)
            return nil
        }
    }

    private func key(
        _ wanted: AgeAgentKey, _ session: inout AgentCard.Session
    ) async throws -> (PIVSlotKey, AgePublicKey)? {
        for slot in try await card.keys(&session) {
            if let key = AgePublicKey(slot.publicKey), wanted.isKey(key) { return (slot, key) }
        }
        return nil
    }

    private func unwrap(
        _ wrapping: AgeWrapping, _ wanted: AgeAgentKey, _ reason: String
    ) async throws -> AgeUnwrapAnswer? {
        try await card.use { session in
            guard let (slot, key) = try await key(wanted, &session) else { return nil }
            let service = session.service
            let peer = try wrapping.peer()
            let secret = try await using(slot, .derive, reason, in: &session) { use in
                try await service.derive(with: peer, slot.slot, algorithm: use.algorithm)
            }
            return try wrapping.fileKey(secret.value, of: key).map(AgeUnwrapAnswer.fileKey) ?? .key
        }
    }
}
