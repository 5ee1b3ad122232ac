// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// A secure channel protocol that a card supports.
public struct SCPProtocol: Hashable, Sendable, CustomStringConvertible {
    /// The protocol's number: 3 for SCP03, 11 for SCP11.
    public let number: UInt8
    /// Its options, as the bits of the protocol's specification ("i").
    public let options: UInt8

    /// As in `SCP03 (i=60)`.
    public var description: String { "SCP\(number < 10 ? "0" : "")\(number) (i=\(Hex.encode([options])))" }

    /// Reads card recognition data: 73, in it a 64 with an object identifier 1.2.840.114283.4.number.options for each.
    static func list(_ data: [UInt8]) throws(WireError) -> [SCPProtocol] {
        var reader = ByteReader(data)
        var objects = try reader.tlv(0x73, "card recognition data")
        let root: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xFC, 0x6B, 0x04]
        var found: [SCPProtocol] = []
        for object in try objects.tlvs() where object.tag == 0x64 {
            var inner = ByteReader(object.value)
            var identifier = try inner.tlv(0x06, "an object identifier")
            let bytes = identifier.rest()
            guard bytes.count >= root.count + 2, bytes.starts(with: root) else { continue }
            // Numbers above 127 take two bytes of an object identifier.
            let options = bytes.dropFirst(root.count + 1).reduce(0) { ($0 << 7 | UInt32($1 & 0x7F)) & 0xFFFF }
            found.append(SCPProtocol(number: bytes[root.count], options: UInt8(truncatingIfNeeded: options)))
        }
        return found
    }
}

/// What kind of key a reference is for.
enum SecurityKeyKind {
    case set
    case privateKey
    case authority
}

extension SCPKeyReference {
    /// Throws `badReference` if the KID does not fit this kind of key, or the KVN cannot be written.
    func require(_ kind: SecurityKeyKind) throws(SecurityDomainError) {
        let isRight =
            switch kind {
            case .set: id == 0x01
            case .privateKey: [0x11, 0x13, 0x15].contains(id)
            case .authority: id == 0x10 || (0x20...0x2F).contains(id)
            }
        guard isRight else {
            let names: [SecurityKeyKind: String] = [
                .set: "an SCP03 set has KID 01", .privateKey: "a private key of SCP11 has KID 11, 13 or 15",
                .authority: "a CA has KID 10 or 20 to 2F",
            ]
            throw .badReference(names[kind] ?? "")
        }
        guard (0x01...0x7F).contains(version) else { throw .badReference("a version is a number from 1 to 127") }
    }
}
