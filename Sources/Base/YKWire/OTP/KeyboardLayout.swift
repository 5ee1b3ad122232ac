// SPDX-License-Identifier: Apache-2.0

/// Which key types which character: a computer reads key positions (HID Usage Tables 1.5 §10), so a password has to be
/// put on the key for the layout that the computer is set to.
///
/// Only what needs no third level (AltGr) is there. Keys that a layout has as dead keys are there as well: alone they
/// type nothing until the next one.
public enum KeyboardLayout: String, Sendable, Hashable, CaseIterable {
    /// Letters that are in the same places of nearly all layouts.
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

    /// The scan codes that type a text; a character that the layout has no key for throws `malformed` with its place,
    /// counted in characters, and never the character.
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

    /// The character that a scan code types; `nil` for none, or a key that the layout does not have here.
    public func character(_ scanCode: UInt8) -> Character? {
        scanCodes.first { $0.value == scanCode }?.key
    }

    /// All characters that can be typed, in no order that means anything.
    public var characters: [Character] { scanCodes.keys.sorted() }

    /// The characters that a made-up password is made of: those that are seen.
    public var visibleCharacters: [Character] { characters.filter { !$0.isWhitespace } }

    /// The usages of the keys that a row names in this order: letters, digits, the rest of the main block, and the key
    /// beside the left Shift of ISO keyboards.
    private static let keys: [UInt8] = Array(0x04...0x27) + Array(0x2D...0x31) + Array(0x33...0x38) + [0x64]
    /// Stands for a key that types nothing here.
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
            ("abcdefghijklmnopqrstuvwxyz1234567890-=[]#;'`,./", "ABCDEFGHIJKLMNOPQRSTUVWXYZ!\"£$%^&*()_+{}~:@¬<>?")
        case .de:
            ("abcdefghijklmnopqrstuvwxzy1234567890ß´ü+#öä^,.-<", "ABCDEFGHIJKLMNOPQRSTUVWXZY!\"§$%&/()=?`Ü*'ÖÄ·;:_>")
        case .fr:
            ("qbcdefghijkl,noparstuvzxyw&é\"'(-è_çà)=·$*mù²;:!<", "QBCDEFGHIJKL·NOPARSTUVZXYW1234567890°+·£µM%·./§·")
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
