// SPDX-License-Identifier: Apache-2.0

import YKCrypto
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

extension FIDOFeatures {
    /// The features as stored in the state file, unless they are those of the firmware.
    var json: JSONValue {
        var object = JSONValue.Object()
        object["version"] = .string(version.rawValue)
        if hasFingerprints { object["fingerprints"] = true }
        if needsFingerprintForCeremonies { object["noMcGaPermissionsWithClientPin"] = true }
        if !registersWithoutVerification { object["makeCredUvRequired"] = true }
        object["resetWindow"] = resetWindow.map { .int(Int64($0)) }
        if hasDirectLargeBlobs { object["directLargeBlobs"] = true }
        if canRequireLongTouch { object["canRequireLongTouch"] = true }
        object["enterpriseRelyingParties"] = .array(enterpriseRelyingParties.map(JSONValue.string))
        return .object(object)
    }

    /// Parses the features in a state file; every field except the version is optional.
    init(_ fields: StateFields) throws(StateFields.Fault) {
        var fields = fields
        self.init(version: try fields.choice("version", Version.allCases.map { ($0.rawValue, $0) }))
        hasFingerprints = try fields.flag("fingerprints")
        needsFingerprintForCeremonies = try fields.flag("noMcGaPermissionsWithClientPin")
        registersWithoutVerification = !(try fields.flag("makeCredUvRequired"))
        if fields.has("resetWindow") { resetWindow = try fields.number("resetWindow", 0...3600) }
        hasDirectLargeBlobs = try fields.flag("directLargeBlobs")
        canRequireLongTouch = try fields.flag("canRequireLongTouch")
        if fields.has("enterpriseRelyingParties") {
            enterpriseRelyingParties = try fields.texts("enterpriseRelyingParties")
        }
        try fields.finish()
    }
}

extension StateFields {
    /// An array of strings.
    mutating func texts(_ key: String) throws(Fault) -> [String] {
        guard let values = take(key)?.array?.map(\.string), !values.contains(nil) else {
            throw fault(key, "expected an array of strings")
        }
        return values.compactMap { $0 }
    }
}

extension VirtualAccount {
    private static let kinds: [(String, Kind)] = [("totp", .totp), ("hotp", .hotp)]
    private static let hashes: [(String, Hash)] = [("sha1", .sha1), ("sha256", .sha256), ("sha512", .sha512)]

    /// The account as stored in the state file; a name that is not UTF-8 is stored in hexadecimal.
    var json: JSONValue {
        var object = JSONValue.Object()
        if let text = String(validating: name, as: UTF8.self) {
            object["name"] = .string(text)
        } else {
            object["nameHex"] = .string(Hex.encode(name))
        }
        object["kind"] = Self.kinds.first { $0.1 == kind }.map { .string($0.0) }
        object["hash"] = Self.hashes.first { $0.1 == hash }.map { .string($0.0) }
        object["digits"] = .int(Int64(digits))
        object["secret"] = .string(Hex.encode(secret))
        if properties.contains(.touch) { object["touch"] = true }
        if properties.contains(.increasing) { object["increasing"] = true }
        if kind == .hotp { object["counter"] = .int(Int64(bitPattern: counter)) }
        if !lastChallenge.isEmpty { object["lastChallenge"] = .string(Hex.encode(lastChallenge)) }
        return .object(object)
    }

    /// Parses an account in a state file.
    init(_ fields: StateFields) throws(StateFields.Fault) {
        var fields = fields
        let name = fields.has("nameHex") ? try fields.bytes("nameHex") : Array(try fields.text("name").utf8)
        guard (1...OATHApplet.nameLimit).contains(name.count) else {
            throw fields.fault("name", "expected 1 to \(OATHApplet.nameLimit) bytes")
        }
        self.init(
            name: name, kind: try fields.choice("kind", Self.kinds), hash: try fields.choice("hash", Self.hashes),
            digits: try fields.number("digits", 6...8), secret: try fields.bytes("secret"))
        guard (1...hash.algorithm.blockSize).contains(secret.count) else {
            throw fields.fault("secret", "expected 1 to \(hash.algorithm.blockSize) bytes")
        }
        if try fields.flag("touch") { properties.insert(.touch) }
        if try fields.flag("increasing") { properties.insert(.increasing) }
        if kind == .hotp { counter = UInt64(bitPattern: try fields.number("counter", Int64.min ... .max)) }
        if fields.has("lastChallenge") { lastChallenge = try fields.bytes("lastChallenge") }
        try fields.finish()
    }
}

/// The members of an object in the state file: each is consumed once, and none may remain.
package struct StateFields {
    private var object: JSONValue.Object
    private let path: String

    /// An invalid field and the reason.
    package struct Fault: Error, Hashable {
        let field: String
        let reason: String
    }

    init(_ json: JSONValue?, path: String) throws(Fault) {
        guard case .object(let object) = json else { throw Fault(field: path, reason: "expected an object") }
        self.object = object
        self.path = path
    }

    private func name(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    func fault(_ key: String, _ reason: String) -> Fault { Fault(field: name(key), reason: reason) }

    func has(_ key: String) -> Bool { object[key] != nil }

    mutating func take(_ key: String) -> JSONValue? {
        defer { object[key] = nil }
        return object[key]
    }

    mutating func text(_ key: String) throws(Fault) -> String {
        guard let text = take(key)?.string else { throw fault(key, "expected a string") }
        return text
    }

    mutating func bytes(_ key: String) throws(Fault) -> [UInt8] {
        guard let bytes = try? Hex.decode(try text(key)) else { throw fault(key, "expected hexadecimal digits") }
        return bytes
    }

    mutating func number<Number: FixedWidthInteger>(
        _ key: String, _ range: ClosedRange<Number>
    ) throws(Fault) -> Number {
        guard let value = take(key)?.int, let number = Number(exactly: value), range.contains(number) else {
            throw fault(key, "expected a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    mutating func flag(_ key: String) throws(Fault) -> Bool {
        guard let value = take(key) else { return false }
        guard let flag = value.bool else { throw fault(key, "expected true or false") }
        return flag
    }

    mutating func choice<Choice>(_ key: String, _ choices: [(String, Choice)]) throws(Fault) -> Choice {
        let text = try text(key)
        guard let choice = choices.first(where: { $0.0 == text })?.1 else {
            throw fault(key, "expected one of \(choices.map(\.0).joined(separator: ", "))")
        }
        return choice
    }

    mutating func fields(_ key: String) throws(Fault) -> StateFields {
        try StateFields(take(key), path: name(key))
    }

    mutating func list(_ key: String) throws(Fault) -> [StateFields] {
        guard let elements = take(key)?.array else { throw fault(key, "expected an array") }
        var list: [StateFields] = []
        for (index, element) in elements.enumerated() {
            list.append(try StateFields(element, path: "\(name(key))[\(index)]"))
        }
        return list
    }

    /// An unknown field would be lost at the next change, so it is rejected.
    func finish() throws(Fault) {
        if let member = object.members.first { throw fault(member.key, "unknown field") }
    }
}
