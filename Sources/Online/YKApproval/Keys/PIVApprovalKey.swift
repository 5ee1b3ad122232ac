// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKPIV
import YKX509

/// The private key of an account in a PIV slot.
public struct PIVApprovalKey: ApprovalKey, Sendable {
    /// The card.
    public let service: PIVService
    /// The slot.
    public let slot: PIVSlot
    /// The public half.
    public let publicKey: PublicKey
    private let algorithm: PIVAlgorithm
    private let unlock: @Sendable (PIVService) async throws -> Void

    /// Creates a key from the slot of an account.
    ///
    /// - Parameters:
    ///   - unlock: Verifies the PIN before each signature, if the key requires it.
    /// - Throws: `otherKey` if the card reports that the slot is empty or holds another key; `unsupportedKey` or `key`.
    public init(
        _ service: PIVService, _ slot: PIVSlot, _ publicKey: PublicKey,
        unlock: @escaping @Sendable (PIVService) async throws -> Void = { _ in }
    ) async throws(ApprovalError) {
        guard let algorithm = PIVAlgorithm(publicKey) else { throw .unsupportedKey("a key type that no card supports") }
        try await Self.check(service, slot, publicKey)
        (self.service, self.slot, self.publicKey) = (service, slot, publicKey)
        (self.algorithm, self.unlock) = (algorithm, unlock)
    }

    /// Signs a text with SHA-256 and verifies the signature with the public half.
    public func sign(_ text: [UInt8]) async throws -> [UInt8] {
        try await unlock(service)
        do {
            return try await service.sign(
                .message(text), slot, hash: .sha256, algorithm: algorithm, key: publicKey)
        } catch { throw ApprovalError.key(error) }
    }

    /// Refuses a slot with a key other than the account's. If the card does not report the key, its signature is
    /// checked later.
    ///
    /// - Throws: `otherKey`, or `key`.
    public static func check(
        _ service: PIVService, _ slot: PIVSlot, _ publicKey: PublicKey
    ) async throws(ApprovalError) {
        do {
            guard let metadata = try await service.metadata(of: slot) else { return }
            if let found = metadata.publicKey, found != publicKey { throw ApprovalError.otherKey(slot) }
        } catch let error as PIVError {
            if case .noKey = error { throw .otherKey(slot) }
            throw .key(error)
        } catch let error as ApprovalError { throw error } catch { throw .otherKey(slot) }
    }

    /// Finds a free retired slot: without a key, as far as the card reports it, and without a certificate.
    ///
    /// - Throws: `noFreeSlot`, or `key`.
    public static func freeSlot(_ service: PIVService) async throws(ApprovalError) -> PIVSlot {
        for slot in PIVSlot.retired where try await isFree(slot, service) == true { return slot }
        throw .noFreeSlot
    }

    /// Returns whether a slot has neither key nor certificate; `nil` if the card does not report it.
    public static func isFree(_ slot: PIVSlot, _ service: PIVService) async throws(ApprovalError) -> Bool? {
        do { return try await service.isFree(slot) } catch { throw .key(error) }
    }

    /// Generates a key in a free slot; the management key must be authenticated.
    ///
    /// - Parameters:
    ///   - policies: The PIN and touch policies; both are set explicitly, not left to the card.
    /// - Returns: The location of the key, with the card's attestation if it makes one, and its public half.
    /// - Throws: `policyNotApplied`, or `otherKey` for an attestation of another slot, card or key, after the key is
    ///   removed if the firmware supports that; `key`.
    public static func make(
        _ service: PIVService, _ slot: PIVSlot, _ algorithm: PIVAlgorithm, _ policies: KeyPolicies
    ) async throws(ApprovalError) -> (place: PIVKeyPlace, publicKey: PublicKey) {
        do {
            let serial = try await service.serial()
            let key = try await service.generateKey(slot, algorithm, policies: policies)
            if let stored = try await service.metadata(of: slot)?.policies, stored != policies {
                _ = await remove(slot, key, service)
                throw ApprovalError.policyNotApplied(slot, "PIN \(stored.pin), touch \(stored.touch)")
            }
            let attestation = try? await service.attest(slot)
            if let attestation {
                let differences = try PIVAttestation(attestation).differences(
                    attestation, slot: slot, serial: serial, key: key)
                guard differences.isEmpty else {
                    _ = await remove(slot, key, service)
                    throw ApprovalError.otherKey(slot)
                }
            }
            let place = PIVKeyPlace(slot: slot, keySerial: serial, policies: policies, attestation: attestation?.der)
            return (place, key)
        } catch let error as PIVError { throw .key(error) } catch let error as ApprovalError { throw error } catch {
            throw .otherKey(slot)
        }
    }

    /// Removes an account's key and no other (firmware 5.7); returns whether it was removed.
    public static func remove(_ slot: PIVSlot, _ publicKey: PublicKey, _ service: PIVService) async -> Bool {
        guard let found = try? await service.metadata(of: slot)?.publicKey, found == publicKey else { return false }
        return (try? await service.deleteKey(slot)) != nil
    }
}
