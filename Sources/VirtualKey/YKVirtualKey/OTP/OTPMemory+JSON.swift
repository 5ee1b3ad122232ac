// SPDX-License-Identifier: Apache-2.0

import YKWire

extension OTPMemory {
    /// The memory as stored in the state file; `nil` if the application was never used.
    var json: JSONValue? {
        guard self != OTPMemory() else { return nil }
        var object = JSONValue.Object()
        object["slots"] = .array(slots.map { $0?.json ?? .null })
        object["sequence"] = .int(Int64(sequence))
        object["ndef"] = ndef.map {
            ["slot": .int(Int64($0.slot)), "kind": .int(Int64($0.kind)), "content": .string(Hex.encode($0.content))]
        }
        if !scanCodes.isEmpty { object["scanCodes"] = .string(Hex.encode(scanCodes)) }
        return .object(object)
    }

    /// Parses the memory in a state file.
    init(_ fields: StateFields) throws(StateFields.Fault) {
        var fields = fields
        self.init()
        guard let list = fields.take("slots")?.array, list.count == 2 else {
            throw fields.fault("slots", "expected two slots")
        }
        for (index, entry) in list.enumerated() where entry != .null {
            slots[index] = try VirtualOTPSlot(try StateFields(entry, path: "otp.slots[\(index)]"))
        }
        sequence = try fields.number("sequence", 0...255)
        if fields.has("ndef") {
            var entry = try fields.fields("ndef")
            ndef = NDEF(
                slot: try entry.number("slot", 1...2), kind: try entry.number("kind", 0...255),
                content: try entry.bytes("content"))
            try entry.finish()
        }
        if fields.has("scanCodes") {
            scanCodes = try fields.bytes("scanCodes")
            guard scanCodes.count == OTPMemory.scanCodeMapSize else {
                throw fields.fault("scanCodes", "expected 45 bytes")
            }
        }
        try fields.finish()
    }
}

extension VirtualOTPSlot {
    fileprivate var json: JSONValue {
        ["record": .string(Hex.encode(record.encoded)), "counter": .int(Int64(bitPattern: counter))]
    }

    fileprivate init(_ fields: StateFields) throws(StateFields.Fault) {
        var fields = fields
        guard let record = try? OTPSlotRecord(decoding: try fields.bytes("record")) else {
            throw fields.fault("record", "expected a slot configuration of 52 bytes")
        }
        self.init(record, counter: UInt64(bitPattern: try fields.number("counter", Int64.min ... .max)))
        try fields.finish()
    }
}
