// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKWire

/// Verifies Yubico one-time passwords with the AES key of the slot that generates them.
public struct OTPVerifier<Store: CounterStore> {
    /// An accepted password.
    public struct Verdict: Hashable, Sendable {
        /// The decrypted block.
        public let block: YubicoOTPBlock
        /// The counter of the previously accepted password; `nil` for the first.
        public let previous: OTPCounter?
    }

    /// The store of the accepted counters.
    public let store: Store

    /// Creates a verifier.
    public init(store: Store) { self.store = store }

    /// Decrypts a password, compares the given identities, and stores its counter before accepting it: no password is
    /// accepted twice, nor one generated before an accepted one.
    ///
    /// - Throws: `otherPublicID`, `wrongKey`, `otherPrivateID`, `replayed`, `store`, or `crypto` for a key that is not
    ///   16 bytes long.
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
    /// Decrypts the block (AES-128, one block) and checks its CRC.
    ///
    /// - Throws: `wrongKey` if the CRC is wrong, `crypto` for a key that is not 16 bytes long.
    public func decrypted(with key: borrowing Secret) throws(TokenError) -> YubicoOTPBlock {
        guard key.count == 16 else { throw .crypto(CryptoFault("an AES key of a slot has 16 bytes, not \(key.count)")) }
        let plain = try lift(TokenError.crypto) { () throws(CryptoFault) in
            try BlockCipher.aes.decrypt(ciphertext, key: key)
        }
        guard let block = try? YubicoOTPBlock(decoding: plain) else { throw .wrongKey }
        return block
    }
}

/// A store of the latest counter of each key.
public protocol CounterStore {
    /// Stores a counter if it is higher than the known one for this public identity, durably before the call returns;
    /// returns the previously known one. Two concurrent callers never both get the same previous counter.
    func advance(_ publicID: [UInt8], to counter: OTPCounter) throws(CounterFileError) -> OTPCounter?
}

/// Why a one-time password was not accepted.
public enum TokenError: Error, Hashable, Sendable {
    /// It is not a Yubico OTP.
    case malformed(WireError)
    /// It is from another key: the public identity does not match.
    case otherPublicID([UInt8])
    /// It cannot be decrypted with the key: the AES key is wrong, or the password was mistyped.
    case wrongKey
    /// The private identity in it does not match.
    case otherPrivateID
    /// It, or a later one, was already accepted.
    case replayed(OTPCounter, last: OTPCounter)
    /// The stored counter could not be read or written, so nothing is accepted.
    case store(CounterFileError)
    /// The AES key is not 16 bytes long.
    case crypto(CryptoFault)
}
