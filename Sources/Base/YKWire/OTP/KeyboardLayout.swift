// SPDX-License-Identifier: Apache-2.0

/// Maps characters to keys: a computer receives key positions (HID Usage Tables 1.5 §10), so a password must be stored
/// on the key for the computer's keyboard layout.
///
/// Characters that require the third level (AltGr) are not included. Dead keys are included: alone they type nothing
/// until the next key.
public enum KeyboardLayout: String, Sendable, Hashable, CaseIterable {
    /// Letters that are on the same keys in nearly all layouts.
    case modhex
    /// US English.
    case us
    /// UK English.
    case uk
    /// German.
    case de
    /// French (AZERTY).
    case fr
    /// Italian.
    case it
    /// French, BÉPO.
    case bepo
    /// US English, Norman.
    case norman

    /// The bit of a scan code that adds Shift.
    public static let shift: UInt8 = 0x80

    /// The scan codes that type a text.
    ///
    /// - Throws: `malformed` for a character that the layout has no key for, with its position counted in characters,
    ///   and never the character.
    public func scanCodes(_ text: some StringProtocol) throws(WireError) -> [UInt8] {
        let codes = scanCodes
        var result: [UInt8] = []
        for (place, character) in text.enumerated() {
            guard let code = codes[character] else {
                throw WireError(.malformed, at: place, "the layout \(rawValue) has no key for this character")
            }
            result.append(code)
        }
        return result
    }

    /// The character that a scan code types; `nil` for none, or a key that is not included for the layout.
    public func character(_ scanCode: UInt8) -> Character? {
        scanCodes.first { $0.value == scanCode }?.key
    }

    /// All characters that can be typed, in no meaningful order.
    public var characters: [Character] { scanCodes.keys.sorted() }

    /// The visible characters, from which passwords are generated.
    public var visibleCharacters: [Character] { characters.filter { !$0.isWhitespace } }

    /// The usages of the keys in the order of a row: letters, digits, the rest of the main block, and the key beside
    /// the left Shift on ISO keyboards.
    private static let keys: [UInt8] = Array(0x04...0x27) + Array(0x2D...0x31) + Array(0x33...0x38) + [0x64]
    /// Marks a key that types nothing here.
    private static let none: Character = "·"

    private var scanCodes: [Character: UInt8] {
        var codes: [Character: UInt8] = self == .modhex ? [:] : ["\n": 0x28, "\t": 0x2B, " ": 0x2C]
        for (row, modifier) in [(rows.plain, 0), (rows.shifted, Self.shift)] {
            for (key, character) in zip(Self.keys, row) where character != Self.none {
                codes[character] = key | modifier
            }
        }
        return codes
    }

    private var rows: (plain: String, shifted: String) {
        switch self {
        case .modhex: ("·bcdefghijkl·n···r·tuv", "·BCDEFGHIJKL·N···R·TUV")
        case .us:
            (#"abcdefghijklmnopqrstuvwxyz1234567890-=[]\;'`,./"#, ##"ABCDEFGHIJKLMNOPQRSTUVWXYZ!@#$%^&*()_+{}|:"~<>?"##)
        case .uk:
            ("abcdefghijklmnopqrstuvwxyz1234567890-=[]#;'`,./\\", "ABCDEFGHIJKLMNOPQRSTUVWXYZ!\"£$%^&*()_+{}~:@¬<>?|")
        case .de:
            ("abcdefghijklmnopqrstuvwxzy1234567890ß´ü+#öä^,.-<", "ABCDEFGHIJKLMNOPQRSTUVWXZY!\"§$%&/()=?`Ü*'ÖÄ°;:_>")
        case .fr:
            ("qbcdefghijkl,noparstuvzxyw&é\"'(-è_çà)=·$*mù²;:!<", "QBCDEFGHIJKL?NOPARSTUVZXYW1234567890°+·£µM%·./§>")
        case .it:
            (
                #"abcdefghijklmnopqrstuvwxyz1234567890'ìè+ùòà\,.-<"#,
                ##"ABCDEFGHIJKLMNOPQRSTUVWXYZ!"£$%&/()=?^é*§ç°|;:_>"##
            )
        case .bepo:
            ("akxipe,cdtsrq'ljbouèv.éy·à\"«»()@+-/*=%zwçnm$ghfê", "AKXIPE;CDTSRQ?LJBOUÈV:ÉY!À1234567890°`ZWÇNM#GHFÊ")
        case .norman:
            (#"abcedtgyrniompl;qfskuvwxjz1234567890-=[]\h'`,./"#, ##"ABCEDTGYRNIOMPL:QFSKUVWXJZ!@#$%^&*()_+{}|H"~<>?"##)
        }
    }
}
