// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKTransport
import YKWire

extension PIVService {
    /// Authenticates with the management key (GENERAL AUTHENTICATE): mutually, or only the host after ``waiveProof()``.
    /// The type is read from the card's metadata, otherwise the card is probed type by type; it is never assumed.
    ///
    /// - Throws: `managementKeyLength` before anything is answered, `wrongManagementKey`, `notAuthentic`, `unproven`, or
    ///   `unknownManagementKeyType`.
    public func authenticate(with key: consuming ManagementKey) throws(PIVError) {
        let (type, block) = try session.needsProof ? requestBlock(.witness) : requestBlock(.challenge)
        guard let cipher = type.cipher, let size = type.keySize else { throw .unknownManagementKeyType(type) }
        guard key.secret.count == size else { throw .managementKeyLength(key.secret.count, needs: type) }
        session.isManaging = false
        session.protectedKey = nil
        if session.needsProof {
            try authenticateMutually(type, cipher, key.secret, witness: block)
        } else {
            let answer: [UInt8]
            do { answer = try cipher.encrypt(block, key: key.secret) } catch { throw .crypto(error) }
            try session.send(AnswerChallenge(type: type, answer: answer)) { $0.isRefusal ? .wrongManagementKey : nil }
        }
        session.isManaging = true
        session.channel.resetsOnRelease = true
    }

    /// From now on, authenticates without requiring the card to prove that it knows the management key, for cards that
    /// cannot.
    public func waiveProof() { session.needsProof = false }

    private func authenticateMutually(
        _ type: ManagementKeyType, _ cipher: BlockCipher, _ key: borrowing Secret, witness: [UInt8]
    ) throws(PIVError) {
        let challenge = try session.draw(cipher.blockSize, secret: false)
        let (answer, expected) = try Self.answers(cipher, key, witness, challenge)
        let command = AnswerWitness(type: type, witness: answer, challenge: challenge)
        let response: [UInt8]?
        do {
            response = try session.send(command) { $0.isRefusal ? .wrongManagementKey : nil }
        } catch {
            guard case .card(.malformed) = error else { throw error }
            throw .notAuthentic
        }
        guard let response else { throw .unproven }
        let isOverwritten = session.channel.environment.isOverwritten(response)
        guard isOverwritten || constantTimeEqual(response, expected) else { throw .notAuthentic }
    }

    private static func answers(
        _ cipher: BlockCipher, _ key: borrowing Secret, _ witness: [UInt8], _ challenge: [UInt8]
    ) throws(PIVError) -> ([UInt8], [UInt8]) {
        do {
            return (try cipher.decrypt(witness, key: key), try cipher.encrypt(challenge, key: key))
        } catch { throw .crypto(error) }
    }

    /// Returns the type of the card's management key: from metadata, otherwise the first type for which it has a
    /// witness.
    public func findManagementKeyType() throws(PIVError) -> ManagementKeyType {
        if let type = session.managementKeyType { return type }
        if let metadata = try managementKeyMetadata() { return metadata.type }
        return try requestBlock(.witness).0
    }

    private func requestBlock(_ kind: RequestBlock.Kind) throws(PIVError) -> (ManagementKeyType, [UInt8]) {
        if session.managementKeyType == nil { _ = try managementKeyMetadata() }
        if let type = session.managementKeyType {
            guard type.cipher != nil else { throw .unknownManagementKeyType(type) }
            let block = try session.send(RequestBlock(kind: kind, type: type)) { status in
                status == .securityStatusNotSatisfied ? .managementKeyUnavailable : nil
            }
            return (type, block)
        }
        var isLocked = false
        for type in ManagementKeyType.known {
            do {
                let block = try session.send(RequestBlock(kind: kind, type: type))
                session.managementKeyType = type
                return (type, block)
            } catch {
                guard case .card(let cause) = error else { throw error }
                if case .status(.securityStatusNotSatisfied, _) = cause {
                    isLocked = true
                } else if !cause.isOtherType {
                    throw error
                }
            }
        }
        throw isLocked ? .managementKeyUnavailable : .unknownManagementKeyType(nil)
    }

    /// Returns a new random management key of a type.
    public func randomManagementKey(_ type: ManagementKeyType) throws(PIVError) -> SharedSecret {
        guard let size = type.keySize else { throw .unknownManagementKeyType(type) }
        var bytes = try session.draw(size, secret: true)
        defer { Secret.wipe(&bytes) }
        return SharedSecret(Secret(bytes))
    }

    /// Returns whether the PIN protects the management key, according to ykman's administrative data; false if that cannot
    /// be read.
    public func isManagementKeyProtected() throws(PIVError) -> Bool {
        try tolerant { () throws(PIVError) in try administration().isKeyProtected } ?? false
    }

    /// Reads ykman's administrative data; empty if there is none.
    public func administration() throws(PIVError) -> PIVAdministration {
        try administration(in: content(.administration))
    }

    /// Parses ykman's administrative data.
    func administration(in object: [UInt8]?) throws(PIVError) -> PIVAdministration {
        try parse(.administration, object ?? []) { bytes throws(WireError) in
            try PIVAdministration(decoding: bytes)
        }
    }
}

extension StatusWord {
    /// Whether the card refused the answer to its witness.
    fileprivate var isRefusal: Bool {
        [.securityStatusNotSatisfied, .incorrectParameters, .dataInvalid, .conditionsNotSatisfied].contains(self)
            || sw1 == 0x63
    }
}

extension CardError {
    /// Whether the card's management key is of a different type from the requested one.
    fileprivate var isOtherType: Bool {
        switch self {
        case .status(let status, _):
            PIVError.isUnknown(status)
                || [.incorrectParameters, .referenceNotFound, .conditionsNotSatisfied, .wrongLength].contains(status)
        case .malformed: true
        default: false
        }
    }
}
