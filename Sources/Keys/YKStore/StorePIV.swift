// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKPIV
public import YKTransport

extension StoreSeal {
    /// Encrypts a store's key for the key in a PIV slot, without needing the card.
    ///
    /// - Parameters:
    ///   - slot: The slot.
    ///   - publicKey: The slot's public key: RSA or P-256.
    /// - Throws: `unfitSlot`, or `crypto`.
    public static func piv(
        _ key: StoreKey, _ slot: PIVSlot, _ publicKey: PublicKey, name: String, added: Int64,
        _ random: any RandomSource
    ) throws(StoreError) -> StoreSeal {
        let secret: SharedSecret
        let means: Means
        do {
            switch publicKey {
            case .rsa(let modulus, _):
                var bytes = try random.draw(32, secret: true)
                defer { Secret.wipe(&bytes) }
                secret = SharedSecret(Secret(bytes))
                let block = try RSAPadding.oaep(
                    secret.value, .sha256, seed: try random.draw(32, secret: true), size: modulus.count)
                var padded = block.copyBytes()
                defer { Secret.wipe(&padded) }
                means = .pivRSA(
                    slot: slot.rawValue, publicKey: publicKey.subjectPublicKeyInfo,
                    message: try publicKey.rsaPublic(padded))
            case .ec(.p256, let point):
                let ephemeral = try P256KeyAgreement(scalar: Secret(try random.draw(32, secret: true)))
                secret = SharedSecret(try ephemeral.shared(with: Array(point.dropFirst())))
                means = .pivECDH(
                    slot: slot.rawValue, publicKey: publicKey.subjectPublicKeyInfo,
                    ephemeral: [0x04] + ephemeral.publicPoint)
            default: throw StoreError.unfitSlot("\(slot)")
            }
        } catch let error as StoreError {
            throw error
        } catch let error as CryptoFault {
            throw .crypto(error)
        } catch {
            throw .random
        }
        return try StoreSeal(key, under: secret.value, means, name: name, added: added, random)
    }

    /// The PIV slot whose key opens the store; `nil` for other kinds of seals.
    public var slot: PIVSlot? {
        switch means {
        case .pivRSA(let slot, _, _), .pivECDH(let slot, _, _): PIVSlot(rawValue: slot)
        default: nil
        }
    }

    /// Whether the store is sealed for a public key.
    public func isSealed(for key: PublicKey) -> Bool {
        switch means {
        case .pivRSA(_, let bytes, _), .pivECDH(_, let bytes, _): bytes == key.subjectPublicKeyInfo
        default: false
        }
    }

    /// Decrypts the store's key with the key in a PIV slot, after the PIN was verified.
    ///
    /// - Throws: `piv`, `notThisKey`, or `notOpened`.
    public func open(_ service: PIVService, _ algorithm: PIVAlgorithm) async throws(StoreError) -> StoreKey {
        guard let slot else { throw .notThisKey }
        let secret: SharedSecret
        do {
            switch means {
            case .pivRSA(_, _, let message):
                secret = try await service.decrypt(message, slot, padding: .oaep(.sha256), algorithm: algorithm)
            case .pivECDH(_, _, let ephemeral):
                secret = try await service.derive(
                    with: .ec(.p256, point: ephemeral), slot, algorithm: algorithm)
            default: throw StoreError.notThisKey
            }
        } catch let error as PIVError {
            if case .notDecrypted = error { throw .notThisKey }
            throw .piv(error)
        } catch { throw .notThisKey }
        return try open(secret.value)
    }
}
