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

    /// Decodes pairs of letters of either case.
    ///
    /// - Throws: `WireError` with the offset for an odd count or another character.
    public static func decode(_ text: some StringProtocol) throws(WireError) -> [UInt8] {
        let characters = Array(text.utf8)
        guard characters.count.isMultiple(of: 2) else {
            throw WireError(.truncated, at: characters.count, "odd number of modhex letters")
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(characters.count / 2)
        for index in stride(from: 0, to: characters.count, by: 2) {
            bytes.append(try value(characters, index) << 4 | value(characters, index + 1))
        }
        return bytes
    }

    private static func value(_ characters: [UInt8], _ index: Int) throws(WireError) -> UInt8 {
        guard let value = letters.firstIndex(of: characters[index] | 0x20) else {
            throw WireError(.malformed, at: index, "not a modhex letter")
        }
        return UInt8(value)
    }
}
