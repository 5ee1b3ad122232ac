// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// Describes WebAuthn authenticator data (WebAuthn L3 §6.1).
enum AuthenticatorDataNarration {
    static func lines(_ data: MaskedBytes) -> [String] {
        guard data.count >= 37 else { return [data.hex] }
        let flags = data[32]
        var lines = [
            "rpIdHash \(data[0..<32].hex)", "flags \(Hex.encode([flags])) (\(names(flags)))",
            "counter \(data[33..<37].number.map(String.init) ?? data[33..<37].hex)",
        ]
        var rest = data.dropFirst(37)
        if flags & 0x40 != 0 {
            guard rest.count >= 18 else { return lines + ["cut off: \(rest.hex)"] }
            let length = Int(rest[16]) << 8 | Int(rest[17])
            lines.append("aaguid \(rest[0..<16].hex)")
            lines.append("credential of \(length) bytes: \(rest[18..<(18 + length)].hex)")
            rest = rest.dropFirst(18 + length)
            let key = item(&rest)
            lines += CBORPrinter.lines(key, CTAPMaps.coseKey).map { "public key \($0)" }
        }
        if flags & 0x80 != 0 {
            lines += CBORPrinter.lines(item(&rest), CTAPKeys("extensions")).map { "extension \($0)" }
        }
        return lines + (rest.isEmpty ? [] : ["left over: \(rest.hex)"])
    }

    private static func names(_ flags: UInt8) -> String {
        let all: [(UInt8, String)] = [
            (0x01, "user present"), (0x04, "user verified"), (0x08, "may be backed up"), (0x10, "backed up"),
            (0x40, "credential"), (0x80, "extensions"),
        ]
        return all.filter { flags & $0.0 != 0 }.map(\.1).joined(separator: ", ")
    }

    /// Removes the first CBOR item; removes everything if it cannot be parsed.
    private static func item(_ rest: inout MaskedBytes) -> MaskedBytes {
        var cursor = CBORCursor(rest.bytes)
        let end = (try? cursor.skip()) == nil ? rest.count : cursor.position
        defer { rest = rest.dropFirst(end) }
        return rest.prefix(end)
    }
}
