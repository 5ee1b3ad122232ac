// SPDX-License-Identifier: Apache-2.0

/// Bytes as pairs of letters that are on the same keys of most keyboards: `cbdefghijklnrtuv` for 0 to 15.
public enum Modhex {
    /// The sixteen letters in the order of their values.
    public static let alphabet = "cbdefghijklnrtuv"
    private static let letters = Array(alphabet.utf8)

    /// Encodes bytes, the high half of each first.
    public static func encode(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: bytes.flatMap { [letters[Int($0 >> 4)], letters[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// The characters of the same keys on a computer set to Dvorak, which YubiCloud accepts as well.
    private static let dvorak = Array("jxe.uidchtnbpygk".utf8)

    /// Decodes pairs of letters that were typed with the layout Dvorak; `nil` for other characters.
    static func decode(dvorak text: some StringProtocol) -> [UInt8]? {
        try? Hex.pairs(of: text, "character") { letter in
            dvorak.firstIndex(of: letter == 0x2E ? letter : letter | 0x20).map { UInt8($0) }
        }
    }

    /// Decodes pairs of letters of either case.
    ///
    /// - Throws: `WireError` with the offset for an odd count or an invalid character.
    public static func decode(_ text: some StringProtocol) throws(WireError) -> [UInt8] {
        try Hex.pairs(of: text, "modhex letter") { letter in letters.firstIndex(of: letter | 0x20).map { UInt8($0) } }
    }
}
