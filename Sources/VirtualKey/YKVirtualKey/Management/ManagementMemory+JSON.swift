// SPDX-License-Identifier: Apache-2.0

import YKWire

extension ManagementMemory {
    /// The memory as stored in the state file; `nil` if nothing was ever changed.
    var json: JSONValue? {
        guard self != ManagementMemory() else { return nil }
        var object = JSONValue.Object()
        object["usbEnabled"] = usbEnabled.map { .int(Int64($0)) }
        object["nfcEnabled"] = nfcEnabled.map { .int(Int64($0)) }
        object["lockCode"] = lockCode.map { .string(Hex.encode($0)) }
        object["autoEject"] = .int(Int64(autoEject))
        object["challengeResponse"] = .int(Int64(challengeResponse))
        object["flags"] = .int(Int64(flags))
        if isNFCRestricted { object["nfcRestricted"] = true }
        object["mode"] = mode.map { .int(Int64($0)) }
        return .object(object)
    }

    /// Parses the memory in a state file.
    init(_ fields: StateFields) throws(StateFields.Fault) {
        var fields = fields
        self.init()
        if fields.has("usbEnabled") { usbEnabled = try fields.number("usbEnabled", 0...0xFFFF) }
        if fields.has("nfcEnabled") { nfcEnabled = try fields.number("nfcEnabled", 0...0xFFFF) }
        if fields.has("lockCode") {
            let code = try fields.bytes("lockCode")
            guard code.count == 16 else { throw fields.fault("lockCode", "expected 16 bytes") }
            lockCode = code
        }
        autoEject = try fields.number("autoEject", 0...UInt16.max)
        challengeResponse = try fields.number("challengeResponse", 0...UInt8.max)
        flags = try fields.number("flags", 0...UInt8.max)
        isNFCRestricted = try fields.flag("nfcRestricted")
        if fields.has("mode") { mode = try fields.number("mode", 0...6) }
        try fields.finish()
    }
}
