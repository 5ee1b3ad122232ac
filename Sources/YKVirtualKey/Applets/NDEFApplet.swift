// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// A read-only NFC Forum Type 4 tag: a capability file and a file with one URI record.
package struct NDEFApplet: Applet {
    package static let aid = AID.ndef

    private var file: [UInt8]?

    package init() {}

    package mutating func select(_ key: inout VirtualKeyState, _ world: VirtualWorld) -> [UInt8] { [] }

    package mutating func process(
        _ command: APDU, _ key: inout VirtualKeyState, _ world: VirtualWorld
    ) throws(Refusal) -> [UInt8] {
        switch command.ins {
        case 0xA4:
            try selectFile(command, key)
            return []
        case 0xB0: return try read(command)
        default: throw .status(.unknownInstruction)
        }
    }

    private mutating func selectFile(_ command: APDU, _ key: VirtualKeyState) throws(Refusal) {
        guard command.p1 == 0, command.p2 == 0x0C else { throw .status(.wrongParameters) }
        switch command.data {
        case [0xE1, 0x03]: file = Self.capabilities
        case [0xE1, 0x04]: file = Self.message(key.ndef)
        default: throw .status(.notFound)
        }
    }

    /// READ BINARY from the offset in P1 P2 (ISO 7816-4 §11.3.3); the card cuts the reply to Le.
    private func read(_ command: APDU) throws(Refusal) -> [UInt8] {
        guard let file else { throw .status(.commandNotAllowed) }
        let offset = Int(command.p1) << 8 | Int(command.p2)
        guard offset < file.count else { throw .status(.wrongParameters) }
        let rest = file[offset...]
        if case .bytes(let count) = command.le { return Array(rest.prefix(Int(count))) }
        return Array(rest.prefix(256))
    }

    /// Version 2.0, 127 bytes to read, 0 to write, the NDEF file E104 readable by all and writable by none.
    private static let capabilities: [UInt8] = [
        0x00, 0x0F, 0x20, 0x00, 0x7F, 0x00, 0x00, 0x04, 0x06, 0xE1, 0x04, 0x00, 0x7F, 0x00, 0xFF,
    ]

    private static func message(_ address: String) -> [UInt8] {
        let payload = [0x04] + Array(address.utf8.prefix(54))
        let record = [0xD1, 0x01, UInt8(payload.count), 0x55] + payload
        return [0x00, UInt8(record.count)] + record
    }
}
