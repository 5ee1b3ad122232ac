// SPDX-License-Identifier: Apache-2.0

import YKProtocols
package import YKTransport
package import YKWire

extension DeviceInfo {
    /// Reads the data objects of all pages; throws `duplicate` for a repeated tag.
    ///
    /// Firmware 4.2.4 reports fewer capabilities than it has, and the 4 series reports incorrectly which are enabled
    /// (as observed with ykman 5.9.2).
    package init(_ objects: [TLV], selected: FirmwareVersion) throws(WireError) {
        var fields = InfoFields(try Self.unique(objects))
        let version = try fields.version(ManagementProtocol.Tag.version) ?? selected
        let supported = Capability(rawValue: try fields.number(ManagementProtocol.Tag.usbSupported) ?? 0)
        self.init(version: version, usb: version == FirmwareVersion(4, 2, 4) ? Capability(rawValue: 0x3F) : supported)
        if let enabled: UInt32 = try fields.number(ManagementProtocol.Tag.usbEnabled), version.major != 4 {
            usb.enabled = Capability(rawValue: enabled)
        }
        let nfcSupported: UInt32? = try fields.number(ManagementProtocol.Tag.nfcSupported)
        let nfcEnabled: UInt32? = try fields.number(ManagementProtocol.Tag.nfcEnabled)
        if let nfcSupported {
            let supported = Capability(rawValue: nfcSupported)
            nfc = Applications(supported: supported, enabled: nfcEnabled.map(Capability.init(rawValue:)) ?? supported)
        }
        let serial: UInt32? = try fields.number(ManagementProtocol.Tag.serial)
        self.serial = serial == 0 ? nil : serial
        try readShape(&fields)
        try readSettings(&fields)
        try readPolicy(&fields)
        unknown = fields.rest
    }

    private mutating func readShape(_ fields: inout InfoFields) throws(WireError) {
        let form: UInt8 = try fields.number(ManagementProtocol.Tag.formFactor) ?? 0
        formFactor = FormFactor(rawValue: form & 0x0F)
        isFIPSSeries = form & 0x80 != 0
        isSecurityKeySeries = form & 0x40 != 0
        partNumber = fields.text(ManagementProtocol.Tag.partNumber)
        fingerprintVersion = try fields.version(ManagementProtocol.Tag.fingerprintVersion)
        stmVersion = try fields.version(ManagementProtocol.Tag.stmVersion)
        qualifier = try fields.take(ManagementProtocol.Tag.versionQualifier).map { bytes throws(WireError) in
            try Self.qualifier(bytes)
        }
        if let qualifier, qualifier.kind != .final { version = qualifier.version }
    }

    private mutating func readSettings(_ fields: inout InfoFields) throws(WireError) {
        autoEjectTimeout = .seconds(try fields.number(ManagementProtocol.Tag.autoEject) ?? UInt16(0))
        challengeResponseTimeout = .seconds(
            try fields.number(ManagementProtocol.Tag.challengeResponseTimeout) ?? UInt16(0))
        flags = Flags(rawValue: try fields.number(ManagementProtocol.Tag.flags) ?? 0)
        isLocked = try fields.flag(ManagementProtocol.Tag.lockCode)
        isNFCRestricted = try fields.flag(ManagementProtocol.Tag.nfcRestricted)
    }

    private mutating func readPolicy(_ fields: inout InfoFields) throws(WireError) {
        fipsCapable = Capability(fips: try fields.number(ManagementProtocol.Tag.fipsCapable) ?? 0)
        fipsApproved = Capability(fips: try fields.number(ManagementProtocol.Tag.fipsApproved) ?? 0)
        requiresComplexPIN = try fields.flag(ManagementProtocol.Tag.pinComplexity)
        resetBlocked = Capability(rawValue: try fields.number(ManagementProtocol.Tag.resetBlocked) ?? 0)
    }

    private static func qualifier(_ bytes: [UInt8]) throws(WireError) -> VersionQualifier {
        var fields = InfoFields(try unique(try TLV.list(bytes)))
        guard let version = try fields.version(ManagementProtocol.QualifierTag.version),
            let kind: UInt8 = try fields.number(ManagementProtocol.QualifierTag.kind)
        else {
            throw WireError(.missing, at: 0, "no version or kind in the version qualifier (tag 19)")
        }
        return VersionQualifier(
            version: version, kind: VersionQualifier.Kind(rawValue: kind),
            iteration: try fields.number(ManagementProtocol.QualifierTag.iteration) ?? 0)
    }

    private static func unique(_ objects: [TLV]) throws(WireError) -> [TLV] {
        var seen: Set<TLV.Tag> = []
        for object in objects where !seen.insert(object.tag).inserted {
            throw WireError(.duplicate, at: 0, "tag \(object.tag) occurs twice")
        }
        return objects
    }
}

/// The data objects of device information, consumed one by one.
private struct InfoFields {
    private(set) var rest: [TLV]

    init(_ objects: [TLV]) { rest = objects }

    /// Three zero bytes mean that the part is absent.
    mutating func version(_ tag: TLV.Tag) throws(WireError) -> FirmwareVersion? {
        guard let bytes = take(tag) else { return nil }
        let version = try FirmwareVersion(bytes: bytes)
        return version == FirmwareVersion(0, 0, 0) ? nil : version
    }

    mutating func take(_ tag: TLV.Tag) -> [UInt8]? {
        guard let index = rest.firstIndex(where: { $0.tag == tag }) else { return nil }
        return rest.remove(at: index).value
    }

    /// A big-endian number of any length that fits; an empty value is 0.
    mutating func number<Number: FixedWidthInteger>(_ tag: TLV.Tag) throws(WireError) -> Number? {
        guard let bytes = take(tag) else { return nil }
        let digits = bytes.drop { $0 == 0 }
        guard digits.count <= 8, let number = Number(exactly: digits.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }) else {
            throw WireError(.tooLarge, at: 0, "the number in tag \(tag) has \(bytes.count) bytes")
        }
        return number
    }

    mutating func flag(_ tag: TLV.Tag) throws(WireError) -> Bool {
        let number: UInt8? = try number(tag)
        return number.map { $0 != 0 } ?? false
    }

    /// Returns `nil` for an empty or non-UTF-8 string.
    mutating func text(_ tag: TLV.Tag) -> String? {
        guard let bytes = take(tag), let text = String(validating: bytes, as: UTF8.self) else { return nil }
        let isPlain = text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        return text.isEmpty || !isPlain ? nil : text
    }
}

extension DeviceInfo {
    /// Corrects fields that keys are known to report incorrectly or omit (as observed with ykman 5.9.2).
    mutating func correct(for product: USBProduct?) {
        family = product?.family
        if version.major < 5, version.major > 0 { correctOld(product) }
        if product?.family == .securityKey { isSecurityKeySeries = true }
        if version >= FirmwareVersion(4, 4, 0), version < FirmwareVersion(4, 5, 0) { isFIPSSeries = true }
        // These form factors have no NFC antenna, whatever they report.
        let hasNoNFC =
            formFactor.isNano || formFactor == .usbCLightning
            || formFactor == .usbCKeychain && version.major == 5 && version < FirmwareVersion(5, 2, 4)
        if hasNoNFC { nfc = nil }
    }

    /// Keys before firmware 5 enable interfaces, not applications; the USB product number holds the enabled interfaces.
    /// An Edge has a smart card interface without applications.
    private mutating func correctOld(_ product: USBProduct?) {
        let isEdge = usb.supported == [.otp, .u2f, .ccid]
        if isEdge { usb.supported = [.otp, .u2f] }
        usb.enabled = usb.supported
        if let product { usb.enabled = usb.supported.limited(to: product.interfaces) }
    }

    /// Whether all applications are reset together: keys with a fingerprint sensor and more than FIDO.
    public var canResetWhole: Bool { formFactor.isBio && usb.supported.contains(.piv) }
}

/// One page of device information: a length byte that counts everything after it, then data objects.
struct InfoPage: Hashable, Sendable {
    let objects: [TLV]
    /// The number of following pages, if the page has it (tag 10).
    let more: UInt8?

    /// Reads a page.
    init(_ bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        var inner = try reader.reader(Int(try reader.byte("the length of the page")), "the page")
        try reader.finish("the page")
        let objects = try inner.tlvs()
        let more = objects.filter { $0.tag == ManagementProtocol.Tag.moreData }
        guard more.count < 2 else { throw WireError(.duplicate, at: 0, "tag 10 occurs twice") }
        guard more.first?.value.count ?? 1 == 1 else {
            throw WireError(.malformed, at: 0, "the number of pages (tag 10) is not one byte")
        }
        self.objects = objects.filter { $0.tag != ManagementProtocol.Tag.moreData }
        self.more = more.first?.value.first
    }
}
