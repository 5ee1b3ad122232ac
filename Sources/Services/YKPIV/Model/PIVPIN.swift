// SPDX-License-Identifier: Apache-2.0

public import YKCrypto

/// A PIN or PUK as it is sent: 1 to 8 bytes, filled with FF to eight (NIST SP 800-73-4 Part 2 §2.4.3).
public struct PIVPIN: ~Copyable, Sendable {
    private let padded: Secret

    /// Takes the bytes.
    ///
    /// - Throws: `emptyPIN`, `badPINLength`, or `unusablePIN` for one with a control character or the byte FF, which
    ///   fills up shorter ones: none of them is ever sent.
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

    /// The PIN of every new card: 123456.
    public static func defaultPIN() -> PIVPIN { PIVPIN(known: "123456") }
    /// The PUK of every new card: 12345678.
    public static func defaultPUK() -> PIVPIN { PIVPIN(known: "12345678") }

    private init(known text: String) {
        padded = Secret(Array(text.utf8) + [UInt8](repeating: 0xFF, count: Self.size - text.utf8.count))
    }

    /// Eight decimal digits that nobody is to know, to use tries up.
    init(random: [UInt8]) { padded = Secret(random.prefix(Self.size).map { 0x30 + $0 % 10 }) }

    /// How many bytes are sent.
    static let size = 8
    /// How many bytes it has without what fills them up.
    var count: Int { padded.withBytes { $0.firstIndex(of: 0xFF) ?? Self.size } }
    /// A second one of the same bytes.
    public borrowing func copy() -> PIVPIN { PIVPIN(padded: padded.copy()) }
    private init(padded: consuming Secret) { self.padded = padded }

    borrowing func copyBytes() -> [UInt8] { padded.copyBytes() }
    /// The bytes without what fills them up.
    borrowing func copyText() -> [UInt8] { padded.copyBytes().filter { $0 != 0xFF } }
}
