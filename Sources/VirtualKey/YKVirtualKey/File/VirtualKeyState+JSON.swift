// SPDX-License-Identifier: Apache-2.0

import YKTransport
package import YKWire

extension VirtualKeyState {
    /// The format that this program writes.
    static let format: Int64 = 1
    /// The member that marks a state file, and carries its format.
    static let mark = "ykit-virtual-key"

    /// The state as stored in the file.
    package var json: JSONValue {
        var object = JSONValue.Object()
        object[Self.mark] = .int(Self.format)
        object["device"] = profile.json
        object["oath"] = oath.json
        object["ndef"] = .string(ndef)
        object["fido"] = fido.json
        for memory in VirtualCard.memories { object[memory.member] = self[memory].json }
        object["otp"] = otp.json
        object["management"] = management.json
        return .object(object)
    }

    /// Parses the object of a state file in this format.
    package init(_ json: JSONValue) throws(StateFields.Fault) {
        var fields = try StateFields(json, path: "")
        _ = fields.take(Self.mark)
        self.init(
            profile: try DeviceProfile(try fields.fields("device")), oath: try OATHMemory(try fields.fields("oath")))
        ndef = try fields.text("ndef")
        for memory in VirtualCard.memories where fields.has(memory.member) { try take(memory, from: &fields) }
        if fields.has("otp") { otp = try OTPMemory(try fields.fields("otp")) }
        if fields.has("management") { management = try ManagementMemory(try fields.fields("management")) }
        if fields.has("fido") { fido = try FIDOMemory(try fields.fields("fido")) }
        try fields.finish()
    }

    private mutating func take<Memory: AppletMemory>(
        _ type: Memory.Type, from fields: inout StateFields
    ) throws(StateFields.Fault) { self[type] = try type.take(from: &fields) }
}

extension DeviceProfile {
    fileprivate var json: JSONValue {
        var object = JSONValue.Object()
        object["serial"] = .int(Int64(serial))
        object["version"] = .string(version.description)
        object["form"] = .int(Int64(formFactor))
        object["transport"] = .string(transport.rawValue)
        if fido != FIDOFeatures(version: FIDOFeatures.Version(of: version)) { object["fido"] = fido.json }
        if model != .yubiKey { object["model"] = .string(model.rawValue) }
        return .object(object)
    }

    fileprivate init(_ fields: StateFields) throws(StateFields.Fault) {
        var fields = fields
        let serial = try fields.number("serial", UInt32.min ... .max)
        guard let version = FirmwareVersion(try fields.text("version")) else {
            throw fields.fault("version", "expected three numbers such as 5.7.1")
        }
        self.init(
            version: version, serial: serial, formFactor: try fields.number("form", 0...255),
            transport: try fields.choice("transport", Transport.allCases.map { ($0.rawValue, $0) }))
        if fields.has("fido") { fido = try FIDOFeatures(try fields.fields("fido")) }
        if fields.has("model") {
            model = try fields.choice("model", DeviceModel.allCases.map { ($0.rawValue, $0) })
        }
        try fields.finish()
    }
}

extension OATHMemory {
    fileprivate var json: JSONValue {
        var object = JSONValue.Object()
        object["salt"] = .string(Hex.encode(salt))
        object["key"] = accessKey.map { .string(Hex.encode($0)) }
        object["accounts"] = .array(accounts.map(\.json))
        return .object(object)
    }

    fileprivate init(_ fields: StateFields) throws(StateFields.Fault) {
        var fields = fields
        self.init(salt: try fields.bytes("salt"), accessKey: fields.has("key") ? try fields.bytes("key") : nil)
        guard (1...16).contains(salt.count) else { throw fields.fault("salt", "expected 1 to 16 bytes") }
        for entry in try fields.list("accounts") {
            let account = try VirtualAccount(entry)
            guard index(of: account.name) == nil else { throw entry.fault("name", "another account has this name") }
            accounts.append(account)
        }
        try fields.finish()
    }
}
