// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKWire

/// Checks Yubico one-time passwords with the AES key of the slot that makes them.
public struct OTPVerifier<Store: CounterStore> {
    /// What was accepted.
    public struct Verdict: Hashable, Sendable {
        /// What the password says.
        public let block: YubicoOTPBlock
        /// The counter of the password that was accepted before; `nil` for the first.
        public let previous: OTPCounter?
    }

    /// Where it is kept what was accepted.
    public let store: Store

    /// Creates a verifier.
    public init(store: Store) { self.store = store }

    /// Decrypts a password, compares the identities that are given, and takes note of its counter before it accepts: no
    /// password is accepted twice, nor one that was made before an accepted one.
    ///
    /// Throws `otherPublicID`, `wrongKey`, `otherPrivateID`, `replayed`, `store`, or `crypto` for a key that is not 16
    /// bytes long.
    public func verify(
        _ otp: YubicoOTP, key: borrowing Secret, publicID: [UInt8]? = nil, privateID: SharedSecret? = nil
    ) throws(TokenError) -> Verdict {
        if let publicID, publicID != otp.publicID { throw .otherPublicID(otp.publicID) }
        let block = try otp.decrypted(with: key)
        if let privateID, !constantTimeEqual(privateID.value.copyBytes(), block.privateID) { throw .otherPrivateID }
        let previous = try lift(TokenError.store) { () throws(CounterFileError) in
            try store.advance(otp.publicID, to: block.counter)
        }
        if let previous, previous >= block.counter { throw .replayed(block.counter, last: previous) }
        return Verdict(block: block, previous: previous)
    }
}

extension YubicoOTP {
    /// Opens the block (AES-128, one block) and checks its CRC.
    ///
    /// Throws `wrongKey` when the CRC says so, `crypto` for a key that is not 16 bytes long.
    public func decrypted(with key: borrowing Secret) throws(TokenError) -> YubicoOTPBlock {
        guard key.count == 16 else { throw .crypto(CryptoFault("an AES key of a slot has 16 bytes, not \(key.count)")) }
        let plain = try lift(TokenError.crypto) { () throws(CryptoFault) in
            try BlockCipher.aes.decrypt(ciphertext, key: key)
        }
        guard let block = try? YubicoOTPBlock(decoding: plain) else { throw .wrongKey }
        return block
    }
}

/// Keeps how far each key has come.
public protocol CounterStore {
    /// Takes note of a counter when it is higher than the one that is known for this public identity, so that it lasts
    /// before the call ends; answers with the one that was known. Two callers never both see the same lower one.
    func advance(_ publicID: [UInt8], to counter: OTPCounter) throws(CounterFileError) -> OTPCounter?
}
