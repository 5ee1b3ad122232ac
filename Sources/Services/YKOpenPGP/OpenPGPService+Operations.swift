// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKTransport
import YKWire

/// The input of a signature.
public enum OpenPGPSigningInput: Hashable, Sendable {
    /// A message. This library hashes it, except for Ed25519, for which the card signs the message itself.
    case message([UInt8])
    /// A digest calculated elsewhere; Ed25519 signs it unchanged, as OpenPGP does.
    case digest([UInt8])
}

extension OpenPGPService {
    /// Signs with the signature key (PSO: COMPUTE DIGITAL SIGNATURE); the user PIN must be verified for signing.
    ///
    /// - Returns: RSASSA-PKCS1-v1_5, ECDSA in DER, or 64 bytes of Ed25519. The signature is checked with the public key.
    /// - Throws: `pinRequired`, `touchTimeout`, `noKey`, `badInput`, `wrongSignature`.
    public func sign(
        _ input: OpenPGPSigningInput, hash: HashAlgorithm = .sha256
    ) throws(OpenPGPError) -> [UInt8] {
        try signature(input, hash, .signature, ComputeSignature.init(input:))
    }

    /// Signs with the authentication key (INTERNAL AUTHENTICATE); the user PIN must be verified for using keys.
    ///
    /// - Throws: The errors of ``sign(_:hash:)``.
    public func authenticate(
        _ input: OpenPGPSigningInput, hash: HashAlgorithm = .sha256
    ) throws(OpenPGPError) -> [UInt8] {
        try signature(input, hash, .authentication, InternalAuthenticate.init(input:))
    }

    private func signature<Command: CardCommand>(
        _ input: OpenPGPSigningInput, _ hash: HashAlgorithm, _ slot: OpenPGPSlot, _ command: ([UInt8]) -> Command
    ) throws(OpenPGPError) -> [UInt8] where Command.Response == [UInt8] {
        let key = try publicKey(slot)
        let block = try Self.block(input, hash, key, slot)
        let touch = try requiresTouch(slot)
        let made: [UInt8]
        do { made = try channel.send(command(block.sent)) } catch {
            let access: OpenPGPAccess = slot == .signature ? .signing : .using
            throw .use(error, of: slot, isVerified: verified.contains(access), touch: touch)
        }
        let result = try Self.result(made, key, command(block.sent))
        guard key.isResult(result, of: block.checked) != false else { throw .wrongSignature(slot) }
        return result
    }

    /// Checks whether a key can sign an input, before the PIN is verified.
    ///
    /// - Throws: `unfit`, `badInput`.
    public static func check(
        _ input: OpenPGPSigningInput, hash: HashAlgorithm, by key: PublicKey, in slot: OpenPGPSlot
    ) throws(OpenPGPError) {
        _ = try block(input, hash, key, slot)
    }

    private func requiresTouch(_ slot: OpenPGPSlot) throws(OpenPGPError) -> Bool {
        try touchPolicy(slot).map { $0 != .off } ?? false
    }

    /// Returns the data to send, and the input of the private key operation.
    private static func block(
        _ input: OpenPGPSigningInput, _ hash: HashAlgorithm, _ key: PublicKey, _ slot: OpenPGPSlot
    ) throws(OpenPGPError) -> (sent: [UInt8], checked: [UInt8]) {
        switch (key, input) {
        case (.x25519, _): throw .unfit(slot, "signatures")
        case (.ed25519, .message(let bytes)), (.ed25519, .digest(let bytes)):
            guard !bytes.isEmpty else { throw .badInput("there is nothing to sign") }
            return (bytes, bytes)
        case (.rsa(let modulus, _), _):
            let digest = try digest(input, hash)
            do {
                let block = try RSAPadding.pkcs1(digest: digest, hash, size: modulus.count)
                let end = block.dropFirst(2).firstIndex(of: 0) ?? 0
                return (Array(block[(end + 1)...]), block)
            } catch { throw .crypto(error) }
        case (.ec(let curve, _), _):
            // Some cards accept no digest longer than the curve's field; ECDSA ignores the rest anyway (FIPS 186-5
            // §6.4.1).
            let digest = Array(try digest(input, hash).prefix(curve.fieldSize))
            return (digest, digest)
        }
    }

    private static func digest(_ input: OpenPGPSigningInput, _ hash: HashAlgorithm) throws(OpenPGPError) -> [UInt8] {
        switch input {
        case .message(let bytes): return hash.hash(bytes)
        case .digest(let bytes):
            guard bytes.count == hash.digestSize else {
                throw .badInput("a digest of \(hash) has \(hash.digestSize) bytes, not \(bytes.count)")
            }
            return bytes
        }
    }

    /// Returns the signature in its standard form; cards may drop leading zeros.
    private static func result<Command: CardCommand>(
        _ made: [UInt8], _ key: PublicKey, _ command: Command
    ) throws(OpenPGPError) -> [UInt8] {
        switch key {
        case .rsa(let modulus, _):
            guard made.count <= modulus.count, !made.isEmpty else { throw malformed(made.count, Command.name) }
            return made.padded(to: modulus.count)
        case .ec(let curve, _):
            // Two halves, which some cards pad to the longer one in DER.
            let half = made.count / 2
            let numbers = [made[..<half], made[half...]].map { Array($0.drop { $0 == 0 }) }
            guard made.count % 2 == 0, numbers.allSatisfy({ (1...curve.fieldSize).contains($0.count) }) else {
                throw malformed(made.count, Command.name)
            }
            let encoded = numbers.map { TLV(0x02, $0[0] & 0x80 != 0 ? [0] + $0 : $0).encoded }
            return TLV(0x30, Array(encoded.joined())).encoded
        case .ed25519, .x25519:
            guard made.count == 64 else { throw malformed(made.count, Command.name) }
            return made
        }
    }

    private static func malformed(_ count: Int, _ command: String) -> OpenPGPError {
        .card(.malformed(WireError(.malformed, at: 0, "a signature of \(count) bytes"), during: command))
    }

    /// Decrypts with the RSA decryption key (PSO: DECIPHER), RSAES-PKCS1-v1_5; the user PIN must be verified for using
    /// keys.
    ///
    /// - Throws: `notDecrypted` for invalid padding; `unfit` for a key on a curve.
    public func decrypt(_ ciphertext: [UInt8]) throws(OpenPGPError) -> SharedSecret {
        let size = try Self.checkCiphertext(ciphertext, for: try type(of: .decryption))
        var plain = try decipher([0x00] + ciphertext.padded(to: size))
        defer { Secret.wipe(&plain) }
        return SharedSecret(Secret(plain))
    }

    /// Checks whether a key can decrypt a message, before the PIN is verified; returns the size of the modulus in bytes.
    ///
    /// - Throws: `unfit` for a key on a curve; `badInput` for a message of the wrong size.
    @discardableResult
    public static func checkCiphertext(
        _ ciphertext: [UInt8], for type: OpenPGPKeyType
    ) throws(OpenPGPError) -> Int {
        guard case .rsa(let bits) = type else { throw .unfit(.decryption, "messages; it agrees on secrets") }
        guard ciphertext.count <= bits / 8, !ciphertext.isEmpty else {
            throw .badInput("the key decrypts \(bits / 8) bytes, not \(ciphertext.count)")
        }
        return bits / 8
    }

    /// Performs a key agreement with the decryption key on a curve (PSO: DECIPHER): returns the x coordinate, or 32
    /// bytes of X25519.
    ///
    /// - Throws: `unfit` if the peer's key has a different type.
    public func derive(with peer: PublicKey) throws(OpenPGPError) -> SharedSecret {
        let type = try type(of: .decryption)
        try Self.checkPeer(peer, for: type)
        let point: [UInt8]
        let size: Int
        switch peer {
        case .ec(let curve, let bytes): (point, size) = (bytes, curve.fieldSize)
        case .x25519(let bytes): (point, size) = (bytes, 32)
        case .rsa, .ed25519: throw .unfit(.decryption, "a key of type \(type)")
        }
        var secret = try decipher(TLV(0xA6, TLV(0x7F49, TLV(0x86, point).encoded).encoded).encoded)
        defer { Secret.wipe(&secret) }
        // Some cards return the whole point.
        if secret.count == 1 + 2 * size, secret[0] == 0x04 { secret = Array(secret[1...size]) }
        guard secret.count == size else {
            let fault = WireError(.malformed, at: 0, "a secret of \(secret.count) bytes")
            throw .card(.malformed(fault, during: Decipher.name))
        }
        return SharedSecret(Secret(secret))
    }

    /// Checks whether a key can agree on a secret with a peer, before the PIN is verified.
    ///
    /// - Throws: `unfit` if the peer's key has a different type.
    public static func checkPeer(_ peer: PublicKey, for type: OpenPGPKeyType) throws(OpenPGPError) {
        guard OpenPGPKeyType(peer) == type else { throw .unfit(.decryption, "a key of type \(OpenPGPKeyType(peer))") }
    }

    private func decipher(_ input: [UInt8]) throws(OpenPGPError) -> [UInt8] {
        let touch = try requiresTouch(.decryption)
        do { return try channel.send(Decipher(input: input)) } catch {
            if case .status(.incorrectParameters, _) = error { throw .notDecrypted }
            throw .use(error, of: .decryption, isVerified: verified.contains(.using), touch: touch)
        }
    }

    /// Reads random bytes (GET CHALLENGE).
    ///
    /// - Throws: `unsupported`; `badInput` for more bytes than the card returns at once.
    public func random(_ count: Int) throws(OpenPGPError) -> [UInt8] {
        let capabilities = try cardFacts().status
        guard capabilities.givesRandomBytes else { throw .unsupported("random bytes") }
        let bytes = capabilities.capabilities
        let limit = bytes.count > 3 ? Int(bytes[2]) << 8 | Int(bytes[3]) : 0
        guard (1...max(1, limit)).contains(count) else { throw .badInput("1 to \(limit) bytes can be read at once") }
        do { return try channel.send(GetChallenge(count: UInt16(count))) } catch { throw .card(error) }
    }
}
