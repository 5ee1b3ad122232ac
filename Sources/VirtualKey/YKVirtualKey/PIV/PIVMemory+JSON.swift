// SPDX-License-Identifier: Apache-2.0

package import YKWire

extension PIVMemory {
    /// The memory as stored in the state file; `nil` if the application was never used.
    package var json: JSONValue? {
        guard self != PIVMemory() else { return nil }
        var object = JSONValue.Object()
        object["pin"] = pin.json
        object["puk"] = puk.json
        object["managementKey"] = .string(Hex.encode(managementKey))
        object["managementType"] = managementType.map { .int(Int64($0)) }
        if managementTouch { object["managementTouch"] = true }
        object["keys"] = .array(
            keys.sorted { $0.key < $1.key }.map { slot, key in
                var entry = key.json
                entry["slot"] = .string(Hex.encode([slot]))
                return .object(entry)
            })
        object["objects"] = .array(
            objects.sorted { $0.key < $1.key }.map { tag, content in
                ["tag": .int(Int64(tag)), "content": .string(Hex.encode(content))]
            })
        object["attestationRoot"] = .string(Hex.encode(attestationRoot))
        return .object(object)
    }

    package static func take(from fields: inout StateFields) throws(StateFields.Fault) -> PIVMemory {
        try PIVMemory(try fields.fields(member))
    }

    /// Parses the memory in a state file.
    private init(_ fields: StateFields) throws(StateFields.Fault) {
        var fields = fields
        self.init()
        pin = try Code(try fields.fields("pin"))
        puk = try Code(try fields.fields("puk"))
        managementKey = try fields.bytes("managementKey")
        if fields.has("managementType") { managementType = try fields.number("managementType", 0...255) }
        managementTouch = try fields.flag("managementTouch")
        for entry in try fields.list("keys") {
            let (slot, key) = try VirtualPIVKey.read(entry)
            keys[slot] = key
        }
        for var entry in try fields.list("objects") {
            let tag: UInt32 = try entry.number("tag", 1...0xFF_FFFF)
            objects[tag] = try entry.bytes("content")
            try entry.finish()
        }
        attestationRoot = try fields.bytes("attestationRoot")
        try fields.finish()
    }
}

extension PIVMemory.Code {
    fileprivate var json: JSONValue {
        ["value": .string(Hex.encode(value)), "total": .int(Int64(total)), "left": .int(Int64(left))]
    }

    fileprivate init(_ fields: StateFields) throws(StateFields.Fault) {
        var fields = fields
        value = try fields.bytes("value")
        guard value.count == 8 else { throw fields.fault("value", "expected 8 bytes") }
        total = try fields.number("total", 1...255)
        left = try fields.number("left", 0...total)
        try fields.finish()
    }
}

extension VirtualPIVKey {
    fileprivate var json: JSONValue.Object {
        var object = JSONValue.Object()
        object["algorithm"] = .int(Int64(algorithm))
        object["key"] = .string(Hex.encode(der))
        object["pin"] = .int(Int64(pinPolicy))
        object["touch"] = .int(Int64(touchPolicy))
        if isImported { object["imported"] = true }
        return object
    }

    fileprivate static func read(_ fields: StateFields) throws(StateFields.Fault) -> (UInt8, VirtualPIVKey) {
        var fields = fields
        guard let slot = try fields.bytes("slot").first else { throw fields.fault("slot", "expected a slot") }
        let key = VirtualPIVKey(
            algorithm: try fields.number("algorithm", 0...255), der: try fields.bytes("key"),
            pinPolicy: try fields.number("pin", 1...5), touchPolicy: try fields.number("touch", 1...3),
            isImported: try fields.flag("imported"))
        try fields.finish()
        return (slot, key)
    }
}
