// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKWire

extension PIVApplet {
    /// Objects that can be read only after the PIN was verified (NIST SP 800-73-4 Part 1 Table 2).
    private static let guarded: Set<UInt32> = [0x5F_C103, 0x5F_C108, 0x5F_C109, 0x5F_C121]
    private static let discovery: UInt32 = Tag.discovery.rawValue
    /// The number of bytes that surround the content of an object in PUT DATA.
    private static let overhead = 9

    /// GET DATA (NIST SP 800-73-4 Part 2 §3.1.2).
    func getData(_ command: APDU, _ memory: PIVMemory) throws(Refusal) -> [UInt8] {
        guard (command.p1, command.p2) == PIVProtocol.currentObjects else { throw .status(StatusWord(0x6A86)) }
        let id = try OATHApplet.parse(command.data) { reader throws(WireError) in try reader.value(Tag.objectID) }
        let tag = try Self.tag(id)
        if tag == Self.discovery {
            let aid = TLV(Tag.applicationIdentifier, Self.aid.rawValue)
            return TLV(Tag.discovery, [aid, TLV(Tag.pinUsagePolicy, [0x40, 0x00])].encoded).encoded
        }
        if Self.guarded.contains(tag), pin == .notGiven { throw .status(.securityStatusNotSatisfied) }
        guard let content = memory.objects[tag] else { throw .status(.notFound) }
        return TLV(Tag.content, content).encoded
    }

    /// PUT DATA (NIST SP 800-73-4 Part 2 §3.3.1); empty content deletes the object.
    mutating func putData(_ command: APDU, _ key: inout VirtualKeyState) throws(Refusal) {
        guard (command.p1, command.p2) == PIVProtocol.currentObjects else { throw .status(StatusWord(0x6A86)) }
        try requireManagement()
        let (id, content) = try OATHApplet.parse(command.data) { reader throws(WireError) in
            (try reader.value(Tag.objectID), try reader.value(Tag.content))
        }
        let tag = try Self.tag(id)
        guard tag != Self.discovery else { throw .status(.functionNotSupported) }
        guard content.count <= key.profile.messageLimit - Self.overhead else { throw .status(.noSpace) }
        key.piv.objects[tag] = content.isEmpty ? nil : content
    }

    private static func tag(_ id: [UInt8]) throws(Refusal) -> UInt32 {
        let number = id.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        guard id.count == 3 && id[0] == 0x5F || id == [0x7E] else { throw .status(.notFound) }
        return number
    }
}
