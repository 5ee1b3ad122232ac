// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKWire

extension OpenPGPApplet {
    /// How long a touch is cached by the cached touch policies.
    private static let touchCache = Duration.seconds(15)

    /// PERFORM SECURITY OPERATION (§7.2.10 to §7.2.12).
    mutating func perform(
        _ command: APDU, _ key: inout VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        switch command.parameters {
        case OpenPGPProtocol.Operation.sign: return try sign(command.data, &key, inputs)
        case OpenPGPProtocol.Operation.decipher: return try decipher(command.data, key, inputs)
        case OpenPGPProtocol.Operation.encipher where key.profile.isPlainOpenPGP: return try encipher(command.data, key)
        default: throw .status(Self.wrongParameters(key.profile))
        }
    }

    /// COMPUTE DIGITAL SIGNATURE: increments the counter, and ends the verification if each signature requires the PIN.
    private mutating func sign(
        _ data: [UInt8], _ key: inout VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        let privateKey = try present(.signature, key, requiring: Password.signing)
        let check = try Self.preparation(data, privateKey)
        try touch(.signature, key, inputs)
        let signature = try Self.signature(check, privateKey)
        key.openPGP.counter = min(0xFF_FFFF, key.openPGP.counter + 1)
        if signatureMode(key) == 0 { verified.remove(Password.signing) }
        return signature
    }

    /// INTERNAL AUTHENTICATE (§7.2.13).
    mutating func authenticate(
        _ command: APDU, _ key: inout VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        guard command.p1 == 0, command.p2 == 0 else { throw .status(Self.wrongParameters(key.profile)) }
        let privateKey = try present(.authentication, key, requiring: Password.user)
        let check = try Self.preparation(command.data, privateKey)
        try touch(.authentication, key, inputs)
        return try Self.signature(check, privateKey)
    }

    /// The key of a slot; requires its PIN to be verified.
    private func present(
        _ slot: VirtualOpenPGPSlot, _ key: VirtualKeyState, requiring pin: UInt8
    ) throws(Refusal) -> PrivateKey {
        guard verified.contains(pin) else { throw .status(.securityStatusNotSatisfied) }
        guard let present = try key.openPGP[slot].key?.privateKey() else {
            throw .status(key.profile.isPlainOpenPGP ? .referenceNotFound : .conditionsNotSatisfied)
        }
        return present
    }

    /// Waits for a touch if the slot's policy requires one.
    mutating func touch(_ slot: VirtualOpenPGPSlot, _ key: VirtualKeyState, _ inputs: VirtualInputs) throws(Refusal) {
        let policy = key.openPGP[slot].touch
        let isWarm = policy >= 3 && lastTouch.map { $0.duration(to: .now) < Self.touchCache } ?? false
        guard policy != 0, !isWarm else { return }
        try inputs.requireTouch(Array("OpenPGP \(slot)".utf8), orElse: .status(.securityRelated))
        lastTouch = .now
    }

    /// The input of the private key operation: the padded DigestInfo for RSA, the digest or message for other keys.
    private static func preparation(_ data: [UInt8], _ key: PrivateKey) throws(Refusal) -> [UInt8] {
        switch key.publicKey {
        case .rsa(let modulus, _):
            // §7.2.10.2: at most 40 % of the modulus.
            guard !data.isEmpty, data.count * 5 <= modulus.count * 2,
                let block = try? RSAPadding.pkcs1(content: data, size: modulus.count)
            else { throw .status(.incorrectParameters) }
            return block
        case .ec:
            guard (20...64).contains(data.count) else { throw .status(.incorrectParameters) }
            return data
        case .ed25519:
            guard !data.isEmpty else { throw .status(.incorrectParameters) }
            return data
        case .x25519: throw .status(.conditionsNotSatisfied)
        }
    }

    private static func signature(_ prepared: [UInt8], _ key: PrivateKey) throws(Refusal) -> [UInt8] {
        do {
            switch key.publicKey {
            case .rsa: return try key.rsaPrivate(prepared)
            case .ec(let curve, _):
                let parts = try TLV.list(TLV.list(key.sign(digest: prepared)).first?.value ?? [])
                return parts.flatMap { $0.value.padded(to: curve.fieldSize) }
            case .ed25519, .x25519: return try key.sign(prepared, .sha512)
            }
        } catch { throw .status(.incorrectParameters) }
    }

    /// DECIPHER: 00 and an RSA cryptogram, A6 with the peer's point, or 02 and AES blocks.
    private mutating func decipher(
        _ data: [UInt8], _ key: VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        if data.first == 0x02, key.profile.isPlainOpenPGP { return try decipherBlocks(data, key) }
        let privateKey = try present(.decryption, key, requiring: Password.user)
        if case .rsa(let modulus, _) = privateKey.publicKey {
            guard data.count == modulus.count + 1, data[0] == 0x00 else { throw .status(.incorrectParameters) }
            try touch(.decryption, key, inputs)
            do {
                return try RSAUnpadding.pkcs1(try privateKey.rsaPrivate(Array(data.dropFirst()))).copyBytes()
            } catch { throw .status(.incorrectParameters) }
        }
        guard let point = Self.point(data), let peer = Self.peer(point, of: privateKey.publicKey) else {
            throw .status(.incorrectParameters)
        }
        try touch(.decryption, key, inputs)
        do { return try privateKey.shared(with: peer).value.copyBytes() } catch {
            throw .status(.incorrectParameters)
        }
    }

    private static func point(_ data: [UInt8]) -> [UInt8]? {
        guard let outer = try? TLV.list(data), outer.count == 1, let middle = outer.value(KeyTag.cipher),
            let inner = try? TLV.list(middle), let content = inner.value(KeyTag.publicKey),
            let parts = try? TLV.list(content)
        else { return nil }
        return parts.value(KeyTag.point)
    }

    private static func peer(_ point: [UInt8], of own: PublicKey) -> PublicKey? {
        switch own {
        case .rsa, .ed25519: return nil
        case .ec(let curve, _):
            let isPoint = point.count == 1 + 2 * curve.fieldSize && point[0] == 0x04
            return isPoint ? .ec(curve, point: point) : nil
        case .x25519:
            // A 40 before the point marks the RFC 7748 encoding.
            let bare = point.count == 33 && point[0] == 0x40 ? Array(point.dropFirst()) : point
            return bare.count == 32 ? .x25519(bare) : nil
        }
    }

    // MARK: - AES

    private static let zeros = [UInt8](repeating: 0, count: AESCBC.blockSize)

    private func blocks(_ data: [UInt8], _ key: VirtualKeyState) throws(Refusal) -> Secret {
        guard verified.contains(Password.user) else { throw .status(.securityStatusNotSatisfied) }
        guard !key.openPGP.aes.isEmpty else { throw .status(.referenceNotFound) }
        guard !data.isEmpty, data.count % AESCBC.blockSize == 0 else { throw .status(.incorrectParameters) }
        return Secret(key.openPGP.aes)
    }

    private func decipherBlocks(_ data: [UInt8], _ key: VirtualKeyState) throws(Refusal) -> [UInt8] {
        let blocks = Array(data.dropFirst())
        let secret = try self.blocks(blocks, key)
        do { return try AESCBC.decrypt(blocks, key: secret, initialisationVector: Self.zeros) } catch {
            throw .status(.incorrectParameters)
        }
    }

    /// ENCIPHER (§7.2.12) with the AES key of D5, in CBC mode with an all-zero IV.
    private func encipher(_ data: [UInt8], _ key: VirtualKeyState) throws(Refusal) -> [UInt8] {
        let secret = try blocks(data, key)
        do { return [0x02] + (try AESCBC.encrypt(data, key: secret, initialisationVector: Self.zeros)) } catch {
            throw .status(.incorrectParameters)
        }
    }
}
