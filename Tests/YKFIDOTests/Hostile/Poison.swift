// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Answers that nobody should believe.
enum Poison {
    /// Answers that no command takes, whatever it asked.
    static let always: [(name: String, reply: [UInt8])] = short + deep + lengths

    private static let short: [(name: String, reply: [UInt8])] = [
        ("nothing at all", []), ("unknown status 70", [0x70]), ("an extension's status", [0xE5]),
        ("a vendor's status", [0xFF, 0xA0]), ("reserved head", [0x00, 0x1C]), ("end mark", [0x00, 0xFF]),
        ("a number", [0x00, 0x01]), ("an array", [0x00, 0x80]), ("bytes", [0x00, 0x40]), ("text", [0x00, 0x60]),
        ("null", [0x00, 0xF6]), ("a tag", [0x00, 0xC1, 0xA0]), ("two maps", [0x00, 0xA0, 0xA0]),
        ("a map cut off", [0x00, 0xA1]), ("a key without value", [0x00, 0xA1, 0x01]),
        ("a key that is there twice", [0x00, 0xA2, 0x01, 0x00, 0x01, 0x00]),
        ("a late key that is there twice", [0x00, 0xA3, 0x02, 0x00, 0x01, 0x00, 0x02, 0x00]),
        ("a map that does not end", [0x00, 0xBF]),
        ("an array that does not end", [0x00, 0x9F]), ("bytes that do not end", [0x00, 0x5F]),
        ("text in chunks of bytes", [0x00, 0x7F, 0x41, 0x00, 0xFF]),
        ("a simple value of two bytes", [0x00, 0xF8, 0x01]),
    ]

    /// As deep as one message can be: maps, arrays and tags, with and without an end.
    private static let deep: [(name: String, reply: [UInt8])] = [0x00, 0xA1, 0xBF, 0x81, 0x9F, 0xC1].map { head in
        ("7608 times \(head)", [0x00] + [UInt8](repeating: head, count: 7608))
    }

    /// Lengths and counts up to 2^64 - 1, of every kind.
    private static let lengths: [(name: String, reply: [UInt8])] = {
        var list: [(name: String, reply: [UInt8])] = []
        for head: UInt8 in [0x5B, 0x7B, 0x9B, 0xBB] {
            for first: UInt8 in [0xFF, 0x7F, 0x80, 0x00] {
                let bytes: [UInt8] = [head, first] + [UInt8](repeating: 0xFF, count: 7)
                list.append((Hex.encode(bytes), [0x00] + bytes))
            }
        }
        return list
    }()

    /// A value of each kind that CBOR has.
    static let values: [CBOR] = [
        1, -1, .bytes([1]), "a", [1], [1: 1], true, .null, .undefined, .float(.init(1.5)), .tagged(1, 1), .simple(99),
    ]

    /// A map with the value of one key of another kind, for each key and each kind.
    static func wrongKinds(_ map: CBOR.Map) -> [(name: String, reply: [UInt8])] {
        map.entries.flatMap { entry in
            values.filter { $0.kindName != entry.value.kindName }.map { value in
                ("key \(entry.key) is \(value.kindName)", CBOR.map(map.with(entry.key, value)).reply)
            }
        }
    }
}
