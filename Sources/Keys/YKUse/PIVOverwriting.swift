// SPDX-License-Identifier: Apache-2.0

public import YKInteraction
public import YKPIV
import YKX509

/// Asks the user for confirmation before data of a PIV application is overwritten.
public struct PIVOverwriting {
    private let service: PIVService
    private let person: any Person

    /// - Parameter person: The user who is asked.
    public init(_ service: PIVService, _ person: any Person) {
        (self.service, self.person) = (service, person)
    }

    /// What would be lost.
    public enum Question: YKInteraction.Question, Hashable {
        /// A key, with its algorithm; `nil` if the card does not report it.
        case key(PIVAlgorithm?, PIVSlot)
        /// A certificate, with its subject; `nil` if it cannot be read.
        case certificate(subject: String?, PIVSlot)
        /// An object.
        case object(PIVObjectID)

        /// With yes or no.
        public var way: Way<Void> { .agree(()) }
    }

    /// Asks for confirmation if a slot has a key, as far as the card reports it.
    ///
    /// - Returns: Whether the slot has a key, which may be replaced.
    /// - Throws: The user's refusal, and `PIVError`.
    @discardableResult
    public nonisolated(nonsending) func confirmKey(in slot: PIVSlot) async throws -> Bool {
        switch try await service.keyState(of: slot) {
        case .present(let metadata): try await person.confirm(Question.key(metadata.algorithm, slot))
        case .absent: return false
        case .untold(let answer):
            let isFree = try await service.isFree(slot)
            if isFree ?? (answer == nil) { return false }
            let algorithm: PIVAlgorithm?
            do { algorithm = try await service.findAlgorithm(slot) } catch {
                switch error {
                case .noKey, .unknownKey: algorithm = nil
                default: throw error
                }
            }
            try await person.confirm(Question.key(algorithm, slot))
        }
        return true
    }

    /// Asks for confirmation if a slot has a certificate, or other data in its place.
    ///
    /// - Throws: The user's refusal, and `PIVError`.
    public nonisolated(nonsending) func confirmCertificate(in slot: PIVSlot) async throws {
        let subject: String?
        do { subject = try await service.certificate(slot).subject.description } catch {
            switch error {
            case .noSuchObject: return
            case .malformedObject, .notInflated, .notCertificate: subject = nil
            default: throw error
            }
        }
        try await person.confirm(Question.certificate(subject: subject, slot))
    }

    /// Asks for confirmation if an object has content.
    ///
    /// - Throws: The user's refusal, and `PIVError`.
    public nonisolated(nonsending) func confirmObject(_ id: PIVObjectID) async throws {
        do {
            if try await service.object(id).isEmpty { return }
        } catch {
            switch error {
            case .noSuchObject: return
            case .pinRequired: break
            default: throw error
            }
        }
        try await person.confirm(Question.object(id))
    }
}
