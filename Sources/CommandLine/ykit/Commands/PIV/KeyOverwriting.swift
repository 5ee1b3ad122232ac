// SPDX-License-Identifier: Apache-2.0

import YKPIV
import YKX509

/// Asks before data is irrevocably overwritten.
struct KeyOverwriting {
    let world: World
    let service: PIVService
    let force: Bool

    /// Asks if a slot has a key, as far as the card reports it.
    func check(_ slot: PIVSlot) async throws {
        guard !force, world.plan == nil else { return }
        let words: String
        do {
            if let metadata = try await service.metadata(of: slot) {
                words = metadata.algorithm.description
            } else {
                words = try await service.findAlgorithm(slot).description
            }
        } catch {
            guard case .noKey = error else { throw error }
            return
        }
        try Prompt.confirm("slot \(slot) has a key (\(words)), it would be lost for good; go on?")
    }

    /// Asks if a slot has a certificate, or other data in its place.
    func checkCertificate(_ slot: PIVSlot) async throws {
        guard !force, world.plan == nil else { return }
        let words: String
        do { words = try await service.certificate(slot).subject.description.printable } catch {
            switch error {
            case .noSuchObject: return
            case .malformedObject, .notInflated, .notCertificate: words = "one that cannot be read"
            default: throw error
            }
        }
        try Prompt.confirm("slot \(slot) has a certificate (\(words)), it would be replaced; go on?")
    }

    /// Asks if an object has content.
    func check(_ id: PIVObjectID) async throws {
        guard !force, world.plan == nil else { return }
        do {
            if try await service.object(id).isEmpty { return }
        } catch {
            switch error {
            case .noSuchObject: return
            case .pinRequired: break
            default: throw error
            }
        }
        try Prompt.confirm("there is an object \(id) already, it would be replaced; go on?")
    }
}
