// SPDX-License-Identifier: Apache-2.0

import YKWire

/// The token identifier that an HOTP slot types before each code (OATH Token Identifier Specification): two characters
/// of the manufacturer, two of the token type, eight of the individual token; each in digits or, from the front on, in
/// modhex.
public struct OTPTokenIdentifier: Sendable, Hashable {
    /// The six bytes.
    package let bytes: [UInt8]
    /// Which of them are typed in modhex.
    let flags: OTPConfigurationFlags

    /// Yubico's manufacturer and token type.
    public static let yubico = "ubhe"

    /// Parses twelve characters. With four, `serial` supplies the rest in digits; with eight, Yubico's prefix is added.
    public init(_ text: String, serial: UInt32?) throws(OTPError) {
        var whole = text
        if text.utf8.count == 4, let serial {
            let digits = String(serial % 100_000_000)
            whole += String(repeating: "0", count: 8 - digits.utf8.count) + digits
        } else if text.utf8.count == 8 {
            whole = Self.yubico + text
        }
        let letters = Array(whole.utf8)
        guard letters.count == 12 else {
            throw .invalid(.length("token identifier", expected: 12...12, is: letters.count))
        }
        let parts = [letters[0..<2], letters[2..<4], letters[4..<12]].map { String(decoding: $0, as: UTF8.self) }
        var bytes: [UInt8] = []
        var inModhex: [Bool] = []
        for part in parts {
            let digits = part.utf8.allSatisfy { 48...57 ~= $0 } ? try? Hex.decode(part) : nil
            guard let value = digits ?? (try? Modhex.decode(part)) else { throw .invalid(.identifier) }
            bytes += value
            inModhex.append(digits == nil)
        }
        self.bytes = bytes
        switch (inModhex[0], inModhex[1], inModhex[2]) {
        case (false, false, false): flags = []
        case (true, false, false): flags = .fixedModhex1
        case (true, true, false): flags = .fixedModhex2
        case (true, true, true): flags = [.fixedModhex1, .fixedModhex2]
        default: throw .invalid(.identifier)
        }
    }
}
