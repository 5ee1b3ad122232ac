// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKFIDO
public import YKKeys
import YKTransport
import YKWire

/// The enrollment of a key that will open a volume: its passphrase, and the token from which the key derives that again.
public struct LUKSEnrollment: Sendable {
    /// What the token describes.
    public let kind: LUKSToken.Kind
    /// The passphrase: the secret in base64, as systemd encodes it.
    public let passphrase: SharedSecret
    /// The key's name and serial number, for the token.
    public let name: String?
    /// The key's serial number, if it reports one.
    public let serial: String?

    /// Creates an enrollment.
    ///
    /// - Parameter secret: The secret that the key derives.
    public init(_ kind: LUKSToken.Kind, secret: SharedSecret, name: String?, serial: String?) {
        (self.kind, self.name, self.serial) = (kind, name, serial)
        passphrase = Self.passphrase(secret)
    }

    /// Returns the passphrase for a secret that a key derives.
    public static func passphrase(_ secret: SharedSecret) -> SharedSecret {
        var bytes = secret.value.copyBytes()
        defer { Secret.wipe(&bytes) }
        return SharedSecret(Secret(utf8: Base64.encode(bytes)))
    }

    /// Adds a slot and its token to a volume. If the token cannot be written, the slot is removed again, also one that
    /// cryptsetup added although it failed. The existing passphrases keep working throughout.
    ///
    /// - Parameter present: A passphrase that opens the volume.
    /// - Returns: The numbers of the slot, which was tested to open the volume, and of the token.
    /// - Throws: `slotRemains` if the slot cannot be removed again.
    package func add(
        to device: String, _ metadata: LUKS2Metadata, present: SharedSecret, _ cryptsetup: Cryptsetup
    ) throws(LUKSError) -> (slot: Int, token: Int) {
        let (slot, token) = (try metadata.freeKeyslot(), try metadata.freeToken())
        guard let json = LUKSToken.json(kind, keyslot: slot, name: name, serial: serial) else { throw .unfitKey }
        let unfinished = UnfinishedWork.Hold()
        defer { withExtendedLifetime(unfinished) {} }
        do { try cryptsetup.addKey(device, slot: slot, passphrase, present: present) } catch {
            if (try? cryptsetup.opens(device, passphrase, slot: slot)) == true {
                try remove(slot, from: device, present, cryptsetup)
            }
            throw error
        }
        do throws(LUKSError) {
            guard try cryptsetup.opens(device, passphrase, slot: slot) else { throw .wrongPassphrase }
            try cryptsetup.importToken(device, token, json)
        } catch {
            try remove(slot, from: device, present, cryptsetup)
            // A token without a slot opens nothing, and there may be none.
            try? cryptsetup.removeToken(device, token)
            throw error
        }
        return (slot, token)
    }

    /// Removes the slot after a failure.
    private func remove(
        _ slot: Int, from device: String, _ present: SharedSecret, _ cryptsetup: Cryptsetup
    ) throws(LUKSError) {
        do { try cryptsetup.removeKey(device, slot: slot, remaining: present) } catch { throw .slotRemains(slot) }
    }
}

extension LUKS2Metadata {
    /// Removes a slot, then the tokens that name no other slot. In this order an interruption can only leave a token
    /// without a slot, which opens nothing.
    ///
    /// - Parameter remaining: A passphrase of another slot.
    package func remove(
        slot: Int, from device: String, remaining: SharedSecret, _ cryptsetup: Cryptsetup
    ) throws(LUKSError) {
        try checkRemovable(slot)
        let unfinished = UnfinishedWork.Hold()
        defer { withExtendedLifetime(unfinished) {} }
        try cryptsetup.removeKey(device, slot: slot, remaining: remaining)
        for token in tokens(of: slot) where token.keyslots == [slot] {
            try cryptsetup.removeToken(device, token.number)
        }
    }
}

extension Key {
    /// Returns the tokens of a volume that are for this key. FIDO2 credentials are tried without touch and PIN; a key
    /// in a PIV slot is recognized by the serial number in its URI.
    ///
    /// - Throws: `FIDOError` or `KeyError` if the key cannot be queried.
    public func ownTokens(_ tokens: [LUKSToken]) async throws -> [LUKSToken] {
        var own = tokens.filter { token in
            if case .pkcs11 = token.kind { token.serial != nil && token.serial == serial } else { false }
        }
        if tokens.contains(where: { if case .fido2 = $0.kind { true } else { false } }) {
            do {
                let service = try await open(FIDOService.self)
                own += try await service.ownTokens(tokens)
                await service.close()
            } catch { if !KeyError.isAbsence(ofApplication: error) { throw error } }
        }
        return own.sorted { $0.number < $1.number }
    }
}

extension FIDOService {
    /// Returns the tokens of a volume whose credentials are on this key, as far as it reports them without touch and PIN.
    public func ownTokens(_ tokens: [LUKSToken]) throws(FIDOError) -> [LUKSToken] {
        var own: [LUKSToken] = []
        for token in tokens {
            guard case .fido2(let found) = token.kind, try owns(found.credential, rpID: found.rpID) else { continue }
            own.append(token)
        }
        return own
    }
}
