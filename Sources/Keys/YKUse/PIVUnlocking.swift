// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKInteraction
public import YKPIV
import YKProtocols
import YKTransport

/// Authenticates to a PIV application before an operation: with the PIN, a fingerprint or the management key, as the slot's
/// policy requires (NIST SP 800-73-4 part 2 §2.4; the YubiKey's policies).
public final class PIVUnlocking {
    /// The application.
    public let service: PIVService
    /// The source of PINs and management keys.
    public let credentials: CredentialBroker
    /// The user, who is told what happens and touches the key.
    public let person: any Person
    /// The key that the credentials belong to, by serial number; `nil` for the only key of a program.
    public let key: String?
    /// Whether a PIN verified by an earlier program is accepted for keys with the policy "once", and is left verified
    /// for the next program.
    public var sharesPIN = false
    /// Whether this is for a program that runs for a long time alongside others: tries are read before each PIN, a PIN
    /// for keys with the policy "always" is entered for each use, and other programs can use the card while the user is
    /// asked.
    public var isForAgent = false
    /// Whether the card's default management key is refused instead of used and reported.
    public var refusesDefaultManagementKey = false
    /// Whether the management key is about to be replaced, so that a default one is neither reported nor refused.
    public var replacesManagementKey = false
    /// Whether only reads are sent to the card: no finger is requested, and a step that depends on an answer throws
    /// `PIVUnlockingError.rehearsalEnds`.
    public var isRehearsal = false
    /// Whether the PIN or a fingerprint was verified.
    public private(set) var isVerified = false
    /// The metadata of the slots that were prepared, on cards that have it.
    private var known: [PIVSlot: SlotMetadata] = [:]

    /// - Parameter key: The serial number of the key, for a program that may use several.
    public init(
        _ service: PIVService, _ credentials: CredentialBroker, _ person: any Person, key: String? = nil
    ) {
        (self.service, self.credentials, self.person, self.key) = (service, credentials, person, key)
    }

    /// Verifies the PIN, unless that is already done.
    ///
    /// - Parameter purpose: The purpose, as the end of "to …".
    public nonisolated(nonsending) func verify(for purpose: String) async throws {
        if isVerified { return }
        try await send(try await pin(for: purpose))
    }

    /// Performs the verification that a slot requires before its key is used, and returns the key's properties.
    ///
    /// The PIN is verified last, since some policies require it immediately before the operation. If the card does not
    /// report the policy, the PIN is verified for all slots except 9E, and there only if it is available.
    ///
    /// - Throws: `CredentialError`, `PIVError`, and what the broker's sources and person throw.
    public nonisolated(nonsending) func prepare(
        _ slot: PIVSlot, _ kind: PIVAlgorithm?, _ operation: PIVOperation, for purpose: String
    ) async throws -> PIVKeyUse {
        try await prepare(slot, kind, operation, for: purpose) { _ in }.use
    }

    /// Performs the verification that a slot requires, and reads the input of the operation.
    ///
    /// - Parameter read: Reads the input, and rejects input that a key of this type cannot use. It runs before the PIN
    ///   is requested.
    public nonisolated(nonsending) func prepare<Input>(
        _ slot: PIVSlot, _ kind: PIVAlgorithm?, _ operation: PIVOperation, for purpose: String,
        reading read: (PIVAlgorithm) throws -> Input
    ) async throws -> (use: PIVKeyUse, input: Input) {
        person.tell(OperationPurpose(purpose))
        let (metadata, algorithm, key) = try await properties(of: slot, kind)
        guard algorithm.fits(operation) else { throw PIVError.unfit(algorithm, for: operation) }
        let use = PIVKeyUse(slot: slot, algorithm: algorithm, touch: metadata?.policies.touch, key: key)
        let input: Input
        let policy = try await policy(of: slot, metadata)
        if policy == .once, sharesPIN, !isVerified, !isRehearsal {
            isVerified = try await service.isPINVerified()
        }
        switch policy {
        case .never?: input = try read(algorithm)
        case .matchOnce?, .matchAlways?:
            input = try read(algorithm)
            try await match(for: purpose)
        case nil where slot == .cardAuthentication && !credentials.isAtHand(request(for: purpose)):
            input = try read(algorithm)
        case .once? where isVerified: input = try read(algorithm)
        default:
            let isAlways = policy == .always || policy == nil && slot == .signature
            input = try await verify(for: purpose, isForOnce: isForAgent && isAlways) { try read(algorithm) }
        }
        if policy == .once, sharesPIN { await service.leavePINVerified() }
        return (use, input)
    }

    /// Verifies the PIN again if it is available: other commands may have come in between.
    private nonisolated(nonsending) func verify<Input>(
        for purpose: String, isForOnce: Bool, reading read: () throws -> Input
    ) async throws -> Input {
        if isForOnce { isVerified = false }
        let input = try read()
        guard !isVerified || credentials.isHeld(request(for: purpose)) else { return input }
        try await send(try await pin(for: purpose, isForOnce: isForOnce))
        if isForOnce { isVerified = false }
        return input
    }

    private func request(for purpose: String, triesLeft: Int? = nil, isForOnce: Bool = false) -> CredentialRequest {
        CredentialRequest(
            CredentialID(.pivPIN, key: key), to: purpose, triesLeft: triesLeft, isForOnce: isForOnce)
    }

    private nonisolated(nonsending) func pin(for purpose: String, isForOnce: Bool = false) async throws -> SharedSecret
    {
        let tries = isForAgent ? try await service.tries(of: .pin)?.triesLeft : nil
        let request = request(for: purpose, triesLeft: tries, isForOnce: isForOnce)
        if isForAgent, !credentials.isAtHand(request) { await service.rest() }
        return try await credentials.obtain(request) { [service] in try await service.credentialTries(of: .pin) }
    }

    private nonisolated(nonsending) func send(_ pin: SharedSecret) async throws {
        try await sending { try await $0.verify(try PIVPIN(pin.value)) }
    }

    /// Sends a PIN, and records whether it was accepted.
    nonisolated(nonsending) func sending(
        _ body: nonisolated(nonsending) (PIVService) async throws -> Void
    ) async throws {
        let id = CredentialID(.pivPIN, key: key)
        isVerified = false
        do { try await body(service) } catch {
            credentials.failed(id, error)
            throw error
        }
        credentials.accepted(id)
        isVerified = true
    }

    /// Returns the PIN for uses other than ``prepare(_:_:_:for:)``.
    nonisolated(nonsending) func obtainPIN(for purpose: String) async throws -> SharedSecret {
        try await pin(for: purpose)
    }

    /// Returns the properties of a key: from its metadata, or else from the given algorithm or the public key. If the
    /// card reports no key, the certificate is tried, because the report may be wrong.
    private nonisolated(nonsending) func properties(
        of slot: PIVSlot, _ kind: PIVAlgorithm?
    ) async throws -> (SlotMetadata?, PIVAlgorithm, PublicKey?) {
        if let metadata = known[slot] { return (metadata, metadata.algorithm, metadata.publicKey) }
        let state = try await service.keyState(of: slot)
        if let metadata = state.metadata {
            known[slot] = metadata
            return (metadata, metadata.algorithm, metadata.publicKey)
        }
        if let kind { return (nil, kind, nil) }
        let key: PublicKey?
        if case .absent = state {
            do { key = try await service.certifiedKey(slot) } catch {
                guard case .noSuchObject = error else { throw error }
                throw PIVError.noKey(slot)
            }
        } else {
            key = try await service.publicKey(slot)
        }
        guard let key, let algorithm = PIVAlgorithm(key) else { throw PIVError.unknownKey(slot) }
        return (nil, algorithm, key)
    }

    /// Returns the PIN policy that the card reports. If it reports none and PINs are shared, returns the one stated in
    /// the certificate.
    private nonisolated(nonsending) func policy(
        of slot: PIVSlot, _ metadata: SlotMetadata?
    ) async throws -> PINPolicy? {
        guard metadata == nil, sharesPIN,
            let certificate = try await unlessRefused({ try await service.certificate(slot) })
        else {
            return metadata?.policies.pin
        }
        return KeyPolicies(certificate)?.pin
    }

    /// Verifies a fingerprint; falls back to the PIN if it is not recognized.
    private nonisolated(nonsending) func match(for purpose: String) async throws {
        if isVerified || isRehearsal { return }
        person.tell(PIVUnlockingNews.fingerExpected)
        do {
            _ = try await service.verifyFingerprint()
            isVerified = true
        } catch {
            switch error {
            case .wrong(.fingerprint, _), .blocked(.fingerprint): person.tell(PIVUnlockingNews.fingerNotRecognized)
            default: throw error
            }
            try await verify(for: purpose)
        }
    }
}

/// A PIV key that is ready for use: the verification that it requires has been performed.
public struct PIVKeyUse: Sendable {
    /// The slot of the key.
    public let slot: PIVSlot
    /// The kind of key.
    public let algorithm: PIVAlgorithm
    /// When it requires a touch; `nil` if the card does not report it.
    public let touch: TouchPolicy?
    /// Its public key, if the card reports it.
    public let key: PublicKey?

    /// Uses the key; the user is told when the key waits for a touch.
    ///
    /// - Parameter body: The exchange that may wait for the touch.
    /// - Throws: `TouchMissed` if the user was told but the key was not touched in time; otherwise the error of `body`.
    public nonisolated(nonsending) func touching<Value>(
        _ person: any Person, _ body: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        guard touch != .never else { return try await body() }
        let wait = person.expectTouch(touch == nil ? .possible : .required)
        defer { wait.end() }
        do { return try await body() } catch let error as PIVError {
            guard touch != nil, wait.isShown, case .card(.link(.timedOut)) = error else { throw error }
            throw TouchMissed()
        }
    }
}

extension PIVService {
    /// The remaining tries of a PIN or PUK as a broker counts them; `nil` if the card does not report them.
    public func credentialTries(of reference: PIVReference) throws(PIVError) -> CredentialTries? {
        try tries(of: reference).map { CredentialTries(left: $0.triesLeft, isFactoryDefault: $0.isDefault) }
    }
}

/// An event while access to a PIV application is gained.
public enum PIVUnlockingNews: UserNews, Hashable {
    /// The key waits for a finger on its sensor.
    case fingerExpected
    /// The finger was not recognized, or fingerprints are blocked; the PIN is used.
    case fingerNotRecognized
    /// The management key is still the default.
    case defaultManagementKey
}

/// Why there is no access to a PIV application, besides `PIVError` and `CredentialError`.
public enum PIVUnlockingError: Error, Hashable, Sendable {
    /// The management key is still the default, which is refused.
    case defaultManagementKey
    /// A management key was not written in hexadecimal digits.
    case malformedManagementKey
    /// The next step depends on an answer of the key.
    case rehearsalEnds
}

extension PIVAlgorithm {
    /// Whether keys of this type support the operation; keys of unknown type do not.
    fileprivate func fits(_ operation: PIVOperation) -> Bool {
        switch operation {
        case .sign: self != .x25519
        case .decrypt: modulusSize != nil
        case .derive: curve != nil || self == .x25519
        }
    }
}
