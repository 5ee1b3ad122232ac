// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKTransport

extension VirtualKeyState: StateRecord {
    /// The format that this program writes.
    static let format: Int64 = 1
    /// The member that marks a state file, and carries its format.
    static let mark = "ykit-virtual-key"

    package init() { self.init(profile: DeviceProfile(), oath: OATHMemory()) }

    package mutating func visit(_ fields: inout StateFields) throws(StateFields.Fault) {
        var format = Self.format
        try fields(Self.mark, &format, .number(1...Self.format))
        try fields("device", &profile, .record)
        if fields.isReading { piv = PIVMemory(profile) }
        try fields("oath", &oath, .record)
        try fields("ndef", &ndef, .text)
        try fields("fido", &fido, .record, unless: FIDOMemory())
        for memory in VirtualCard.memories { try visit(memory, &fields) }
        try fields("otp", &otp, .record, unless: OTPMemory())
        try fields("management", &management, .record, unless: ManagementMemory())
    }

    private mutating func visit<Memory: AppletMemory>(
        _ type: Memory.Type, _ fields: inout StateFields
    ) throws(StateFields.Fault) { try self[type].visitField(of: &fields) }
}

extension DeviceProfile: StateRecord {
    package init() { self.init(serial: 0) }

    package mutating func visit(_ fields: inout StateFields) throws(StateFields.Fault) {
        try fields("serial", &serial, .number(UInt32.min ... .max))
        try fields("version", &version, .version)
        try fields("form", &formFactor, .number(0...255))
        try fields("transport", &transport, .choice(Transport.allCases.map { ($0.rawValue, $0) }))
        let standard = FIDOFeatures(version: FIDOFeatures.Version(of: version))
        if fields.isReading { fido = standard }
        try fields("fido", &fido, .record, unless: standard)
        try fields("model", &model, .choice(DeviceModel.allCases.map { ($0.rawValue, $0) }), unless: .yubiKey)
    }
}

extension StateCoding<FirmwareVersion> {
    fileprivate static var version: Self {
        StateCoding<String>.text.converted("expected three numbers such as 5.7.1", to: \.description) {
            FirmwareVersion($0)
        }
    }
}

extension FIDOFeatures: StateRecord {
    package init() { self.init(version: .v21) }

    package mutating func visit(_ fields: inout StateFields) throws(StateFields.Fault) {
        try fields("version", &version, .choice(Version.allCases.map { ($0.rawValue, $0) }))
        try fields.flag("fingerprints", &hasFingerprints)
        try fields.flag("noMcGaPermissionsWithClientPin", &needsFingerprintForCeremonies)
        var requiresVerification = !registersWithoutVerification
        try fields.flag("makeCredUvRequired", &requiresVerification)
        registersWithoutVerification = !requiresVerification
        try fields("resetWindow", &resetWindow, .number(0...3600))
        try fields.flag("directLargeBlobs", &hasDirectLargeBlobs)
        try fields.flag("canRequireLongTouch", &canRequireLongTouch)
        if fields.has("enterpriseRelyingParties", writing: true) {
            try fields("enterpriseRelyingParties", &enterpriseRelyingParties, .list(.text))
        }
    }
}

extension OATHMemory: StateRecord {
    package init() { self.init(salt: []) }

    package mutating func visit(_ fields: inout StateFields) throws(StateFields.Fault) {
        try fields("salt", &salt, .bytes(1...16))
        try fields("key", &accessKey, .bytes)
        try fields("accounts", &accounts, .list(.record))
        try fields.unique("accounts", "name", accounts.map(\.name), "another account has this name")
    }
}

extension VirtualAccount: StateRecord {
    package init() { self.init(name: [], kind: .totp, secret: []) }

    /// A name that is not UTF-8 is stored in hexadecimal.
    package mutating func visit(_ fields: inout StateFields) throws(StateFields.Fault) {
        if fields.has("nameHex", writing: String(validating: name, as: UTF8.self) == nil) {
            try fields("nameHex", &name, .bytes)
        } else {
            var text = String(decoding: name, as: UTF8.self)
            try fields("name", &text, .text)
            name = Array(text.utf8)
        }
        let limit = OATHApplet.nameLimit
        try fields.check("name", (1...limit).contains(name.count), "expected 1 to \(limit) bytes")
        try fields("kind", &kind, .choice([("totp", .totp), ("hotp", .hotp)]))
        try fields("hash", &hash, .choice([("sha1", .sha1), ("sha256", .sha256), ("sha512", .sha512)]))
        try fields("digits", &digits, .number(6...8))
        try fields("secret", &secret, .bytes(1...hash.algorithm.blockSize))
        try fields.flag("touch", &properties[.touch])
        try fields.flag("increasing", &properties[.increasing])
        if kind == .hotp { try fields("counter", &counter, .bitPattern) }
        try fields("lastChallenge", &lastChallenge, .bytes, unless: [])
    }
}

extension VirtualAccount.Properties {
    fileprivate subscript(flag: Self) -> Bool {
        get { contains(flag) }
        set { if newValue { insert(flag) } else { remove(flag) } }
    }
}
