// SPDX-License-Identifier: Apache-2.0

/// A Yubico one-time password as typed: the key's public identity, and one AES block encrypted with its secret key.
public struct YubicoOTP: Hashable, Sendable, CustomStringConvertible {
    /// The public identity, up to 16 bytes; usually six.
    public var publicID: [UInt8]
    /// The encrypted block, 16 bytes.
    public var ciphertext: [UInt8]

    /// The length of the block in bytes.
    public static let blockSize = 16
    /// The possible lengths of a password, in letters.
    public static let lengths = 32...64

    /// Parses 32 to 64 modhex letters of either case, also as a computer set to Dvorak types them; the last 32 are the
    /// block.
    public init(parsing text: some StringProtocol) throws(WireError) {
        let count = text.utf8.count
        guard Self.lengths.contains(count) else {
            throw WireError(
                count < 32 ? .truncated : .tooLarge, at: count, "a Yubico OTP has 32 to 64 letters, not \(count)")
        }
        let bytes: [UInt8]
        do { bytes = try Modhex.decode(text) } catch {
            guard let typed = Modhex.decode(dvorak: text) else { throw error }
            bytes = typed
        }
        publicID = Array(bytes.dropLast(Self.blockSize))
        ciphertext = Array(bytes.suffix(Self.blockSize))
    }

    /// Combines a public identity and an encrypted block.
    ///
    /// - Throws: `tooLarge` or `malformed` when either has an invalid length.
    public init(publicID: [UInt8], ciphertext: [UInt8]) throws(WireError) {
        guard publicID.count <= 16 else { throw WireError(.tooLarge, at: 0, "a public identity has at most 16 bytes") }
        guard ciphertext.count == Self.blockSize else {
            throw WireError(.malformed, at: 0, "the block has 16 bytes, not \(ciphertext.count)")
        }
        self.publicID = publicID
        self.ciphertext = ciphertext
    }

    /// The letters in lower case.
    public var description: String { Modhex.encode(publicID + ciphertext) }
}
