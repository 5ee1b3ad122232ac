// SPDX-License-Identifier: Apache-2.0

public import YKCrypto

/// A PIN or PUK as it is sent: 1 to 8 bytes, padded with FF to eight (NIST SP 800-73-4 Part 2 §2.4.3).
public struct PIVPIN: ~Copyable, Sendable {
    private let padded: Secret

    /// Creates a PIN or PUK from its bytes.
    ///
    /// - Throws: `emptyPIN`, `badPINLength`, or `unusablePIN` for one with a control character or the padding byte FF:
    ///   none of them is ever sent.
    public init(_ text: borrowing Secret) throws(PIVError) {
        if text.isEmpty { throw .emptyPIN }
        guard text.count <= Self.size else { throw .badPINLength(text.count) }
        var bytes = text.copyBytes()
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F && $0 != 0xFF }) else {
            Secret.wipe(&bytes)
            throw .unusablePIN
        }
        bytes += [UInt8](repeating: 0xFF, count: Self.size - bytes.count)
        padded = Secret(bytes)
        Secret.wipe(&bytes)
    }

    /// The default PIN: 123456.
    public static func defaultPIN() -> PIVPIN { PIVPIN(known: "123456") }
    /// The default PUK: 12345678.
    public static func defaultPUK() -> PIVPIN { PIVPIN(known: "12345678") }

    private init(known text: String) {
        padded = Secret(Array(text.utf8) + [UInt8](repeating: 0xFF, count: Self.size - text.utf8.count))
    }

    /// A random PIN of eight digits, used to exhaust the retry counter.
    init(random: [UInt8]) { padded = Secret(random.prefix(Self.size).map { 0x30 + $0 % 10 }) }

    /// The padded length in bytes.
    static let size = 8
    /// The length in bytes without padding.
    var count: Int { padded.withBytes { $0.firstIndex(of: 0xFF) ?? Self.size } }
    /// Returns a copy.
    public borrowing func copy() -> PIVPIN { PIVPIN(padded: padded.copy()) }
    private init(padded: consuming Secret) { self.padded = padded }

    borrowing func copyBytes() -> [UInt8] { padded.copyBytes() }
    /// Returns the bytes without padding.
    borrowing func copyText() -> [UInt8] { padded.copyBytes().filter { $0 != 0xFF } }

    /// Refuses a new PIN or PUK below a card's minimum length.
    ///
    /// - Throws: `shortPIN`.
    package borrowing func check(_ reference: PIVReference, least: Int) throws(PIVError) {
        guard count >= least else { throw .shortPIN(reference, count, least: least) }
    }
}

/// A reference for VERIFY (NIST SP 800-73-4 Part 2, Table 6).
public enum PIVReference: UInt8, Sendable, Hashable, CaseIterable {
    /// The PIN.
    case pin = 0x80
    /// The PUK, which sets a new PIN.
    case puk = 0x81
    /// A fingerprint.
    case fingerprint = 0x96
}
