// SPDX-License-Identifier: Apache-2.0

import YKHardware
import YKTransport
import YKWire

extension World {
    /// What there is to work with: the software key or the recording, else the readers of this machine.
    func attachedKeys(asking isAsked: Bool) async throws -> [ListedKey] {
        if options.virtual != nil || options.replay != nil {
            let channel = try connect()
            let identity = channel.identity
            let details = isAsked ? KeyDetails(channel) : nil
            return [ListedKey(reader: identity.reader, atr: identity.atr, hasCard: true, details: details)]
        }
        return try readers().map { reader in
            let details = isAsked && reader.hasCard ? try? self.details(of: reader.name) : nil
            return ListedKey(
                reader: reader.name, atr: reader.atr, hasCard: reader.hasCard, isInUse: reader.isInUse, details: details
            )
        }
    }
}

/// One line of a list.
struct ListedKey {
    var reader: String
    var atr: [UInt8]
    var hasCard: Bool
    var isInUse = false
    var details: KeyDetails?

    var serial: String? { details?.serial }

    var row: [String] {
        guard hasCard else { return [reader.printable, "no card"] }
        let name = details?.name.printable ?? "a card that does not say who it is"
        let words = [name, details?.version ?? "", serial.map { "serial \($0)" } ?? "", isInUse ? "in use" : ""]
        return [reader.printable, words.filter { !$0.isEmpty }.joined(separator: ", ")]
    }

    var json: JSON {
        [
            "reader": .string(reader), "atr": .string(Hex.encode(atr)), "hasCard": .bool(hasCard),
            "inUse": .bool(isInUse), "name": details.map { .string($0.name) } ?? .null,
            "serial": serial.map(JSON.string) ?? .null, "version": details?.version.map(JSON.string) ?? .null,
        ]
    }
}
