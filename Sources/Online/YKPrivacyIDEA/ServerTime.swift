// SPDX-License-Identifier: Apache-2.0

import YKHTTP
import YKWire

/// The time formats used by the server.
enum ServerTime {
    /// Reads `2026-11-22 04:14:55.228658` (UTC), the same with `T` and a zero offset, or an IMF-fixdate.
    ///
    /// - Returns: Whole seconds since 1970-01-01 00:00 UTC; `nil` for anything else.
    static func seconds(_ json: JSONValue?) -> Int64? {
        guard let text = json?.string else { return nil }
        if let seconds = HTTPDate.seconds(text) { return seconds }
        let bytes = Array(text.utf8)
        guard bytes.count >= 19, bytes[10] == 0x20 || bytes[10] == 0x54, bytes[13] == 0x3A, bytes[16] == 0x3A,
            let date = UTCDate(String(decoding: bytes[..<10], as: UTF8.self)), let hour = number(bytes[11..<13]),
            let minute = number(bytes[14..<16]), let second = number(bytes[17..<19]), hour < 24, minute < 60,
            second < 61
        else { return nil }
        var rest = bytes[19...]
        if rest.first == UInt8(ascii: ".") { rest = rest.dropFirst().drop { (0x30...0x39).contains($0) } }
        guard ["", "Z", "+00:00", "+0000"].contains(String(decoding: rest, as: UTF8.self)) else { return nil }
        return date.seconds + Int64(hour * 3600 + minute * 60 + second)
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(String(decoding: bytes, as: UTF8.self))
    }
}

extension JSONValue {
    /// The integer, if it fits in an `Int`.
    var count: Int? { int.flatMap { Int(exactly: $0) } }
    /// The string, if it is not empty.
    var filled: String? { string.flatMap { $0.isEmpty ? nil : $0 } }
}
