// SPDX-License-Identifier: Apache-2.0

extension CBOR {
    /// The item in CTAP2's canonical form (CTAP 2.1 §8): shortest lengths, definite lengths, sorted map keys.
    public var encoded: [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(64)
        write(to: &out)
        return out
    }

    /// Appends the item in CTAP2's canonical form.
    public func write(to out: inout [UInt8]) {
        switch self {
        case .unsigned(let number): Self.head(0, number, to: &out)
        case .negative(let number): Self.head(1, number, to: &out)
        case .bytes(let bytes):
            Self.head(2, UInt64(bytes.count), to: &out)
            out += bytes
        case .text(let text):
            Self.head(3, UInt64(text.utf8.count), to: &out)
            out += text.utf8
        case .array(let elements):
            Self.head(4, UInt64(elements.count), to: &out)
            for element in elements { element.write(to: &out) }
        case .map(let map):
            Self.head(5, UInt64(map.count), to: &out)
            for entry in map.canonicalEntries {
                entry.key.write(to: &out)
                entry.value.write(to: &out)
            }
        case .tagged(let tag, let item):
            Self.head(6, tag, to: &out)
            item.write(to: &out)
        case .simple(let value): Self.head(7, UInt64(value), to: &out)
        case .float(let real):
            out.append(real.width == 2 ? 0xF9 : real.width == 4 ? 0xFA : 0xFB)
            Self.bigEndian(real.bits, real.width, to: &out)
        }
    }

    private static func head(_ major: UInt8, _ argument: UInt64, to out: inout [UInt8]) {
        let type = major << 5
        switch argument {
        case 0..<24: out.append(type | UInt8(truncatingIfNeeded: argument))
        case 24...0xFF:
            out.append(type | 24)
            out.append(UInt8(truncatingIfNeeded: argument))
        case 0x100...0xFFFF:
            out.append(type | 25)
            bigEndian(argument, 2, to: &out)
        case 0x1_0000...0xFFFF_FFFF:
            out.append(type | 26)
            bigEndian(argument, 4, to: &out)
        default:
            out.append(type | 27)
            bigEndian(argument, 8, to: &out)
        }
    }

    private static func bigEndian(_ value: UInt64, _ count: Int, to out: inout [UInt8]) {
        for shift in stride(from: (count - 1) * 8, through: 0, by: -8) {
            out.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
        }
    }
}
