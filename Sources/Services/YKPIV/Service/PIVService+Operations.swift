// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKTransport
import YKWire
public import YKX509

/// The input of a signature.
public enum SigningInput: Hashable, Sendable {
    /// A message, which is hashed by this library, except for Ed25519, where the card hashes it.
    case message([UInt8])
    /// A message that was hashed in pieces; its hash function replaces the one given. Not for Ed25519.
    case hashed(RunningHash)
    /// A digest calculated elsewhere; not for Ed25519.
    case digest([UInt8])

    /// The input with its message hashed; unchanged if it is already hashed.
    fileprivate func hashed(_ hash: HashAlgorithm) -> SigningInput {
        guard case .message(let message) = self else { return self }
        return .hashed(RunningHash(hash, of: message))
    }
}

/// The padding of an RSA message.
public enum DecryptionPadding: Hashable, Sendable {
    /// RSAES-PKCS1-v1_5.
    case pkcs1
    /// RSAES-OAEP with MGF1 of the same hash.
    case oaep(HashAlgorithm)
}

extension PIVService {
    /// Signs with the key in a slot (GENERAL AUTHENTICATE): RSASSA-PKCS1-v1_5 or RSASSA-PSS with a salt as long as
    /// the hash, padded here; ECDSA in DER; Ed25519 in 64 bytes, where the card takes the whole message.
    ///
    /// The algorithm is read from the card unless `algorithm` is given. If `key`, the slot's public key, is given, the
    /// signature is verified with it.
    ///
    /// - Throws: `pinRequired`, `touchTimeout`, `noKey`, `unfit`, `badInput` or `wrongSignature`.
    public func sign(
        _ input: SigningInput, _ slot: PIVSlot, hash: HashAlgorithm = .sha256, padding: PublicKey.Padding = .default,
        algorithm: PIVAlgorithm? = nil, key: PublicKey? = nil
    ) throws(PIVError) -> [UInt8] {
        let algorithm = if let algorithm { algorithm } else { try findAlgorithm(slot) }
        let input = algorithm == .ed25519 ? input : input.hashed(hash)
        let block = try Self.block(input, algorithm, hash, padding) { size throws(PIVError) in
            try session.draw(size, secret: false)
        }
        let signature = try use(UseKey(slot, algorithm, challenge: block))
        if let size = algorithm.modulusSize, signature.count != size {
            let fault = WireError(.malformed, at: 0, "a signature of \(signature.count) bytes, not \(size)")
            throw .card(.malformed(fault, during: UseKey.name))
        }
        if let key, key.isResult(signature, of: block) == false { throw .wrongSignature(slot) }
        return signature
    }

    /// Decrypts with the RSA key in a slot (GENERAL AUTHENTICATE) and removes the padding here, in constant time.
    ///
    /// - Throws: `notDecrypted` for any invalid padding, and as ``sign(_:_:hash:padding:algorithm:key:)`` does.
    public func decrypt(
        _ ciphertext: [UInt8], _ slot: PIVSlot, padding: DecryptionPadding, algorithm: PIVAlgorithm? = nil
    ) throws(PIVError) -> SharedSecret {
        let algorithm = if let algorithm { algorithm } else { try findAlgorithm(slot) }
        let size = try Self.checkCiphertext(ciphertext, for: algorithm)
        var block = try use(UseKey(slot, algorithm, challenge: ciphertext))
        defer { Secret.wipe(&block) }
        guard block.count == size else { throw .notDecrypted }
        do {
            switch padding {
            case .pkcs1: return SharedSecret(try RSAUnpadding.pkcs1(block))
            case .oaep(let hash): return SharedSecret(try RSAUnpadding.oaep(block, hash))
            }
        } catch { throw .notDecrypted }
    }

    /// Performs a key agreement with the key in a slot (GENERAL AUTHENTICATE); returns the x coordinate on a curve
    /// (NIST SP 800-56A §5.7.1.2), or 32 bytes of X25519.
    ///
    /// - Throws: `unfitPeer` if the peer's key does not match the slot's, `unfit` if the slot's cannot agree on a
    ///   secret, and as ``sign(_:_:hash:padding:algorithm:key:)`` does.
    public func derive(
        with peer: PublicKey, _ slot: PIVSlot, algorithm: PIVAlgorithm? = nil
    ) throws(PIVError) -> SharedSecret {
        let algorithm = if let algorithm { algorithm } else { try findAlgorithm(slot) }
        let point = try Self.checkPeer(peer, for: algorithm)
        var secret = try use(UseKey(slot, algorithm, point: point))
        defer { Secret.wipe(&secret) }
        let size = algorithm.curve?.fieldSize ?? 32
        guard secret.count == size else {
            let fault = WireError(.malformed, at: 0, "a secret of \(secret.count) bytes, not \(size)")
            throw .card(.malformed(fault, during: UseKey.name))
        }
        return SharedSecret(Secret(secret))
    }

    // MARK: - Checks before a PIN is verified

    /// Checks whether keys of a type can sign an input.
    ///
    /// - Throws: `unfit`, `badInput`.
    public static func check(
        _ input: SigningInput, for algorithm: PIVAlgorithm, hash: HashAlgorithm = .sha256,
        padding: PublicKey.Padding = .default
    ) throws(PIVError) {
        let input = algorithm == .ed25519 ? input : input.hashed(hash)
        _ = try block(input, algorithm, hash, padding) { size in [UInt8](repeating: 0, count: size) }
    }

    /// Checks whether RSA keys of a type can decrypt a message; returns the size of the modulus in bytes.
    ///
    /// - Throws: `unfit` for other keys; `badInput` for a message of the wrong size.
    @discardableResult
    public static func checkCiphertext(_ ciphertext: [UInt8], for algorithm: PIVAlgorithm) throws(PIVError) -> Int {
        guard let size = algorithm.modulusSize else { throw .unfit(algorithm, for: .decrypt) }
        guard ciphertext.count == size else {
            throw .badInput("\(algorithm) decrypts \(size) bytes, not \(ciphertext.count)")
        }
        return size
    }

    /// Checks whether keys of a type can agree on a secret with a peer; returns the peer's point.
    ///
    /// - Throws: `unfitPeer`, `unfit`.
    @discardableResult
    public static func checkPeer(_ peer: PublicKey, for algorithm: PIVAlgorithm) throws(PIVError) -> [UInt8] {
        switch peer {
        case .x25519(let bytes) where algorithm == .x25519: return bytes
        case .ec(let curve, let bytes) where algorithm.curve == curve: return bytes
        case _ where algorithm == .x25519 || algorithm.curve != nil: throw .unfitPeer(algorithm)
        default: throw .unfit(algorithm, for: .derive)
        }
    }

    /// Returns the algorithm of the key in a slot: from metadata, attestation or certificate.
    public func findAlgorithm(_ slot: PIVSlot) throws(PIVError) -> PIVAlgorithm {
        try checkSlot(slot)
        if let metadata = try metadata(of: slot) { return metadata.algorithm }
        guard let algorithm = PIVAlgorithm(try publicKey(slot)) else { throw .unknownKey(slot) }
        return algorithm
    }

    /// Throws `mismatch` unless a signature or key agreement proves that the slot has this key's private half.
    func prove(_ key: PublicKey, _ slot: PIVSlot) throws(PIVError) {
        guard let algorithm = PIVAlgorithm(key) else { throw .mismatch(slot) }
        guard algorithm != .x25519 else { throw .unfit(algorithm, for: .sign) }
        let challenge = try session.draw(32, secret: false)
        let hash: HashAlgorithm = algorithm == .p384 ? .sha384 : .sha256
        let signature: [UInt8]
        do { signature = try sign(.message(challenge), slot, hash: hash, algorithm: algorithm) } catch {
            guard case .card(.status(let status, _)) = error, status != .securityStatusNotSatisfied else { throw error }
            throw .mismatch(slot)
        }
        guard key.isValid(signature, for: challenge, hash) else { throw .mismatch(slot) }
    }

    /// Returns the input of the private key operation; `salt` draws the salt of PSS.
    private static func block(
        _ input: SigningInput, _ algorithm: PIVAlgorithm, _ named: HashAlgorithm, _ padding: PublicKey.Padding,
        salt: (Int) throws(PIVError) -> [UInt8]
    ) throws(PIVError) -> [UInt8] {
        if algorithm == .x25519 { throw .unfit(algorithm, for: .sign) }
        let (hash, digest): (HashAlgorithm, [UInt8])
        switch input {
        case .message(let message): return message
        case _ where algorithm == .ed25519:
            throw .badInput("Ed25519 signs the message itself, not its digest")
        case .hashed(let message): (hash, digest) = (message.algorithm, message.digest)
        case .digest(let bytes): (hash, digest) = (named, bytes)
        }
        guard digest.count == hash.digestSize else {
            throw .badInput("a digest of \(digest.count) bytes does not match the given hash")
        }
        if let curve = algorithm.curve {
            let head = Array(digest.prefix(curve.fieldSize))
            return [UInt8](repeating: 0, count: curve.fieldSize - head.count) + head
        }
        guard let size = algorithm.modulusSize else { throw .unfit(algorithm, for: .sign) }
        if padding == .default { return try padded { () throws(CryptoFault) in try .pkcs1(digest, hash, size) } }
        let salt = try salt(hash.digestSize)
        return try padded { () throws(CryptoFault) in try .pss(digest, hash, salt, size) }
    }

    private static func padded(_ body: () throws(CryptoFault) -> PaddedBlock) throws(PIVError) -> [UInt8] {
        do { return try body().bytes } catch { throw .badInput(error.description) }
    }

    private func use(_ command: UseKey) throws(PIVError) -> [UInt8] {
        try checkSlot(command.slot)
        do {
            let result = try session.send(command) { status in
                switch status {
                case .referenceNotFound, .notFound: .noKey(command.slot)
                case .incorrectParameters where command.input.value.count > 4096: .badInput("too long for the card")
                default: nil
                }
            }
            if session.pinState == .fresh { session.pinState = .used }
            return result
        } catch {
            guard case .card(.status(let status, _)) = error else { throw error }
            if status == .securityStatusNotSatisfied { throw try refusal(command.slot) }
            // YubiKeys answer an empty slot like a wrong input; metadata distinguishes them.
            guard [.incorrectParameters, .incorrectP1P2].contains(status) else { throw error }
            let known = try metadata(of: command.slot)?.algorithm
            // NIST cards answer 6A86 to a slot that is empty (SP 800-73-4 part 2 §3.2.4).
            throw status == .incorrectP1P2 && known != command.algorithm
                ? .noKeyOf(command.algorithm, command.slot) : error
        }
    }

    /// 6982 means that the PIN is missing, or that the key was not touched: the card does not distinguish them.
    private func refusal(_ slot: PIVSlot) throws(PIVError) -> PIVError {
        if session.pinState == .fresh { return .touchTimeout }
        guard let policies = try? metadata(of: slot)?.policies, policies.touch != .never else { return .pinRequired }
        if policies.pin == .never { return .touchTimeout }
        return session.pinState == .used && policies.pin == .once ? .touchTimeout : .pinRequired
    }
}

/// The input block of an RSA operation.
private struct PaddedBlock {
    let bytes: [UInt8]

    static func pkcs1(_ digest: [UInt8], _ hash: HashAlgorithm, _ size: Int) throws(CryptoFault) -> PaddedBlock {
        PaddedBlock(bytes: try RSAPadding.pkcs1(digest: digest, hash, size: size))
    }

    static func pss(
        _ digest: [UInt8], _ hash: HashAlgorithm, _ salt: [UInt8], _ size: Int
    ) throws(CryptoFault) -> PaddedBlock {
        PaddedBlock(bytes: try RSAPadding.pss(digest: digest, hash, salt: salt, size: size))
    }
}

extension PIVService {
    private static let day = Duration.seconds(86_400)
    /// The number of days for which a certificate can be valid.
    public static let validDays = 1...36500

    /// Returns a self-signed certificate of the key in a slot, valid from now on; it is not written to the card.
    ///
    /// - Parameters:
    ///   - slot: The slot of the key that signs.
    ///   - template: The contents.
    ///   - validity: How long the certificate is valid, in whole seconds: 1 to 36500 days.
    ///   - key: The slot's public key, read from the card if omitted.
    ///
    /// Throws as ``sign(_:_:hash:padding:algorithm:key:)`` does; `wrongSignature` if the signature does not verify with
    /// `key`.
    public func selfSignedCertificate(
        _ slot: PIVSlot, _ template: CertificateTemplate, validity: Duration, key: PublicKey? = nil
    ) throws(PIVError) -> X509Certificate {
        let days = Self.validDays
        guard (Self.day * days.lowerBound...Self.day * days.upperBound).contains(validity) else {
            throw .badInput("a certificate is valid for \(days.lowerBound) to \(days.upperBound) days")
        }
        let key = if let key { key } else { try publicKey(slot) }
        let algorithm = try signatureAlgorithm(key, template)
        var serial = try session.draw(16, secret: false)
        serial[0] = serial[0] & 0x7F | 0x40
        let now = session.channel.environment.clock.now
        let content = try template.certificateContent(
            key, algorithm, serial: serial, from: now, to: now + validity.components.seconds)
        let signature = try signature(of: content, slot, key, algorithm)
        return try X509Certificate(reading: CertificateTemplate.signed(content, algorithm, signature))
    }

    /// Returns a certificate request for the key in a slot (PKCS#10, RFC 2986), DER.
    ///
    /// Throws as ``selfSignedCertificate(_:_:validity:key:)`` does.
    public func certificateRequest(
        _ slot: PIVSlot, _ template: CertificateTemplate, key: PublicKey? = nil
    ) throws(PIVError) -> [UInt8] {
        let key = if let key { key } else { try publicKey(slot) }
        let algorithm = try signatureAlgorithm(key, template)
        let content = template.requestContent(key)
        let signature = try signature(of: content, slot, key, algorithm)
        return CertificateTemplate.signed(content, algorithm, signature)
    }

    private func signatureAlgorithm(
        _ key: PublicKey, _ template: CertificateTemplate
    ) throws(PIVError) -> SignatureAlgorithm {
        guard let algorithm = SignatureAlgorithm(key, template.hash) else { throw .unfit(.x25519, for: .sign) }
        return algorithm
    }

    private func signature(
        of content: [UInt8], _ slot: PIVSlot, _ key: PublicKey, _ algorithm: SignatureAlgorithm
    ) throws(PIVError) -> [UInt8] {
        let signature = try sign(.message(content), slot, hash: algorithm.hash, algorithm: PIVAlgorithm(key))
        guard key.isValid(signature, for: content, algorithm.hash) else { throw .wrongSignature(slot) }
        return signature
    }
}
