// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKWire
public import YKX509

extension PIVService {
    /// Generates a key in a slot, replacing any key there (GENERATE ASYMMETRIC KEY PAIR), and returns its public key.
    /// Requires the management key. Generating an RSA key takes seconds to minutes.
    ///
    /// - Throws: `weakGeneration` for RSA on firmware 4.2.0 to 4.3.4 unless `allowingWeakRSA` is on: those keys are
    ///   weak (ROCA). `unsupported`, `unsupportedAlgorithm` or `managementKeyRequired`.
    public func generateKey(
        _ slot: PIVSlot, _ algorithm: PIVAlgorithm, policies: KeyPolicies = KeyPolicies(),
        allowingWeakRSA: Bool = false
    ) throws(PIVError) -> PublicKey {
        if algorithm.modulusSize != nil, identity.makesWeakRSA, !allowingWeakRSA, let version = identity.version {
            throw .weakGeneration(version)
        }
        try checkFit(slot, algorithm, policies)
        let command = GenerateKey(slot: slot, algorithm: algorithm, policies: policies)
        do { return try session.manage(command) { Self.keyMeaning($0, slot, algorithm) } } catch {
            throw error.whileChanging(.key(slot))
        }
    }

    /// Imports a private key into a slot, replacing any key there (IMPORT ASYMMETRIC KEY). Requires the management key.
    ///
    /// - Throws: `unsupported`, `unsupportedAlgorithm`, `managementKeyRequired`, or `badInput` for a key that no card
    ///   accepts.
    public func importKey(
        _ key: PrivateKey, _ slot: PIVSlot, policies: KeyPolicies = KeyPolicies()
    ) throws(PIVError) -> PIVAlgorithm {
        guard let algorithm = PIVAlgorithm(key.publicKey) else { throw .unsupportedKey(key.publicKey.kindName) }
        if case .rsa(_, let exponent) = key.publicKey, exponent != [1, 0, 1] {
            throw .badInput("cards accept only RSA keys with the public exponent 65537")
        }
        try checkFit(slot, algorithm, policies)
        let command: ImportKey
        do {
            command = try ImportKey(key, algorithm: algorithm, slot: slot, policies: policies)
        } catch { throw .crypto(error) }
        do { try session.manage(command) { Self.keyMeaning($0, slot, algorithm) } } catch {
            throw error.whileChanging(.key(slot))
        }
        return algorithm
    }

    /// Moves a key to another slot (MOVE KEY, firmware 5.7); its certificate is not moved. Requires the management key.
    ///
    /// - Parameter replacing: Whether a key in the destination is deleted first, since the card does not replace it.
    /// - Throws: `noKey` if the slot is empty, `occupied` if the destination has a key; `unfinished` if the key in the
    ///   destination was deleted and the other one not moved.
    public func moveKey(
        from source: PIVSlot, to destination: PIVSlot, replacing: Bool = false
    ) throws(PIVError) {
        try checkSlot(destination)
        guard destination != .attestation else { throw .unusableSlot(destination) }
        do { try move(source, destination) } catch {
            // The key in the destination is deleted only if the source has one.
            guard case .occupied = error, replacing, source != destination, try metadata(of: source) != nil else {
                throw error
            }
            try move(destination, nil)
            do { try move(source, destination) } catch { throw .unfinished(.key(destination), error) }
        }
    }

    /// Deletes a key (MOVE KEY without a destination, firmware 5.7); its certificate is kept. Requires the management
    /// key.
    ///
    /// - Throws: `noKey` if the slot is empty.
    public func deleteKey(_ slot: PIVSlot) throws(PIVError) { try move(slot, nil) }

    /// Returns a certificate for the key in a slot, signed by the key in F9 (ATTEST, firmware 4.3).
    ///
    /// - Throws: `notAttestable` for a key that was not generated on the card, `noKey`, or `unsupported`.
    public func attest(_ slot: PIVSlot) throws(PIVError) -> X509Certificate {
        try session.require(.attestation)
        try checkSlot(slot)
        let der: [UInt8]
        do {
            der = try session.send(Attest(slot)) { status in
                switch status {
                case .incorrectParameters, .conditionsNotSatisfied: .notAttestable(slot)
                case .referenceNotFound, .notFound: .noKey(slot)
                case let status: PIVError.isUnknown(status) ? .unsupported(.attestation, identity) : nil
                }
            }
        } catch {
            // YubiKeys answer an empty slot like an imported key (go-piv); metadata distinguishes them.
            if case .notAttestable = error { _ = try metadata(of: slot) }
            throw error
        }
        return try X509Certificate(reading: der)
    }

    /// Returns the public key in a slot: from the card's metadata, its attestation, or the slot's certificate.
    ///
    /// - Throws: `noKey` if the slot is empty; `unknownKey` if none of them is available.
    public func publicKey(_ slot: PIVSlot) throws(PIVError) -> PublicKey {
        if let key = try cardPublicKey(slot) { return key }
        do {
            if let key = try certifiedKey(slot) { return key }
        } catch {
            guard case .noSuchObject = error else { throw error }
        }
        throw .unknownKey(slot)
    }

    /// The public key as reported by the card: from metadata or attestation; `nil` if neither is available.
    func cardPublicKey(_ slot: PIVSlot) throws(PIVError) -> PublicKey? {
        try checkSlot(slot)
        if let metadata = try metadata(of: slot) { return metadata.publicKey }
        return try tolerant { () throws(PIVError) in try attest(slot).publicKey } ?? nil
    }

    private func move(_ source: PIVSlot, _ destination: PIVSlot?) throws(PIVError) {
        try session.require(.moveKey)
        try checkSlot(source)
        try session.manage(MoveKey(from: source, to: destination)) { status in
            switch status {
            case .referenceNotFound, .notFound: .noKey(source)
            case .incorrectParameters: destination.map { .occupied($0) } ?? .noKey(source)
            case .commandNotAllowed: .unusableSlot(destination ?? source)
            case let status: PIVError.isUnknown(status) ? .unsupported(.moveKey, identity) : nil
            }
        }
    }

    /// Returns whether a slot has neither key nor certificate; `nil` if the card does not report it.
    ///
    /// A card with metadata (firmware 5.3.0) reports keys directly; an older one is sent ATTEST, which fails
    /// differently for an imported key and an empty slot.
    ///
    /// - Throws: `PIVError` if the certificate cannot be read.
    public func isFree(_ slot: PIVSlot) throws(PIVError) -> Bool? {
        do {
            _ = try certificate(slot)
            return false
        } catch {
            switch error {
            case .noSuchObject: break
            case .malformedObject, .notInflated, .notCertificate: return false
            default: throw error
            }
        }
        switch try keyState(of: slot) {
        case .present: return false
        case .absent: return true
        case .untold(let answer):
            do {
                _ = try attest(slot)
                return false
            } catch {
                switch error {
                case .noKey: return answer == nil ? true : nil
                case .notAttestable: return false
                default:
                    if error.endsSession { throw error }
                    return nil
                }
            }
        }
    }

    /// Checks whether a slot can hold a key of this kind, before a PIN is verified or a key replaced.
    ///
    /// - Throws: `unusableSlot`, `unsupported`.
    public func checkFit(_ slot: PIVSlot, _ algorithm: PIVAlgorithm, _ policies: KeyPolicies) throws(PIVError) {
        try checkSlot(slot)
        if let feature = algorithm.feature { try session.require(feature) }
        if policies != KeyPolicies() { try session.require(.policies) }
        if policies.touch == .cached { try session.require(.cachedTouch) }
        if [.matchOnce, .matchAlways].contains(policies.pin) { try session.require(.fingerprints) }
    }

    func checkSlot(_ slot: PIVSlot) throws(PIVError) {
        guard slot.certificateObject != nil else { throw .unusableSlot(slot) }
    }

    /// Cards answer 6A86 both to slots and to algorithms that they lack; every card has the four main slots.
    private static func keyMeaning(_ status: StatusWord, _ slot: PIVSlot, _ algorithm: PIVAlgorithm) -> PIVError? {
        switch status {
        case .incorrectParameters, .dataInvalid: .unsupportedAlgorithm(algorithm)
        case .conditionsNotSatisfied: .notApproved
        case .referenceNotFound: .noSuchSlot(slot)
        case .incorrectP1P2 where !PIVSlot.main.contains(slot): .noSuchSlot(slot)
        case let status: PIVError.isUnknown(status) ? .unsupportedAlgorithm(algorithm) : nil
        }
    }
}

extension PublicKey {
    /// The kind of key, for messages.
    fileprivate var kindName: String {
        switch self {
        case .rsa(let modulus, _): "RSA with \(modulus.count * 8) bits"
        case .ec(.p521, _): "P-521"
        case .ec(let curve, _): "\(curve)"
        case .ed25519: "Ed25519"
        case .x25519: "X25519"
        }
    }
}
