// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKWire

/// Describes an NFC Forum Type 4 tag.
enum NDEFNarration: ApplicationNarration {
    static var vocabulary: any CardVocabulary.Type { NDEFProtocol.self }

    static func phrase(_ command: NarratedCommand) -> (String, [String])? {
        switch command.ins {
        case ISO7816.select: return ("SELECT \(file(command.data))", [])
        case ISO7816.readBinary: return ("READ BINARY from \(command.parameters)", [])
        case ISO7816.updateBinary:
            return ("UPDATE BINARY from \(command.parameters)", ["data \(command.data.hex)"])
        default: return nil
        }
    }

    static func reply(_ data: MaskedBytes, to command: NarratedCommand) -> [String]? {
        guard command.ins == ISO7816.readBinary, !data.isEmpty else { return data.isEmpty ? [] : ["reply \(data.hex)"] }
        if command.parameters == 0, data.count == 2 { return ["length \(data.number.map(String.init) ?? data.hex)"] }
        if command.parameters == 0, data.count >= 15, data[0] == 0, data[1] >= 15, data[7] == 4 {
            return capability(data)
        }
        let message = command.parameters == 0 ? data[2..<(2 + (Int(data[0]) << 8 | Int(data[1])))] : data
        return record(message) ?? ["data \(data.hex)"]
    }

    private static func file(_ id: MaskedBytes) -> String {
        switch id.bytes {
        case NDEFProtocol.File.capabilityContainer: "the capability container (e103)"
        default: "file \(id.hex)"
        }
    }

    /// Describes the capability container (NFC Forum Type 4 Tag §5.1).
    private static func capability(_ data: MaskedBytes) -> [String] {
        let size = { (index: Int) in Int(data[index]) << 8 | Int(data[index + 1]) }
        return [
            "capability container, mapping version \(data[2] >> 4).\(data[2] & 15)",
            "at most \(size(3)) bytes a read, \(size(5)) a write",
            "NDEF file \(data[9..<11].hex) of \(size(11)) bytes, \(data[13] == 0 ? "readable" : "not readable"), "
                + (data[14] == 0 ? "writable" : "not writable"),
        ]
    }

    /// Describes one short well-known record: a URI or a text.
    private static func record(_ message: MaskedBytes) -> [String]? {
        guard message.count >= 4, message[0] & 0x17 == 0x11, message[1] == 1 else { return nil }
        let payload = message[4..<(4 + Int(message[2]))]
        guard !payload.isEmpty else { return nil }
        switch message[3] {
        case 0x55:
            let prefix = NDEFURI(code: payload[0], rest: []).prefix
            return ["URI \(prefix)\(payload.dropFirst(1).text.droppingQuotes)"]
        case 0x54: return ["text \(payload.dropFirst(1 + Int(payload[0] & 0x3F)).text)"]
        default: return nil
        }
    }
}
