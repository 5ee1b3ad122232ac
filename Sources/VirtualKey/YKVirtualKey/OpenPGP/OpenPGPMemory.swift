// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// A key slot of the OpenPGP application; the raw value is the key reference in DE and CRT 84.
package enum VirtualOpenPGPSlot: UInt8, Hashable, Sendable, CaseIterable {
    case signature = 0x01
    case decryption = 0x02
    case authentication = 0x03
    /// Yubico's attestation key.
    case attestation = 0x81

    /// The index in the lists of fingerprints and times.
    var index: Int { self == .attestation ? 3 : Int(rawValue) - 1 }

    /// The slot of a control reference template: B6, B8 or A4, empty or with a key reference (84).
    init?(_ template: TLV) {
        let slots: [TLV.Tag: Self] = [0xB6: .signature, 0xB8: .decryption, 0xA4: .authentication]
        guard let slot = slots[template.tag] else { return nil }
        if template.value.isEmpty {
            self = slot
            return
        }
        guard template.value.count == 3, template.value[0] == 0x84, template.value[1] == 1,
            let named = Self(rawValue: template.value[2]),
            named == slot || named == .attestation && slot == .signature
        else { return nil }
        self = named
    }
}

/// The persistent state of the OpenPGP application.
package struct OpenPGPMemory: AppletMemory {
    package static let member = "openpgp"

    /// A PIN or the reset code; empty if not set.
    package struct Code: Hashable, Sendable {
        package var value: [UInt8]
        /// The maximum number of retries.
        package var total: UInt8 = 3
        /// The number of retries left.
        package var left: UInt8 = 3
    }

    /// A private key.
    package struct Key: Hashable, Sendable {
        /// PKCS#8, DER.
        package var der: [UInt8]
        package var isImported: Bool
    }

    /// A slot's data other than its key.
    package struct SlotData: Hashable, Sendable {
        package var key: Key?
        /// `nil` for a new card's attributes.
        package var attributes: [UInt8]?
        package var fingerprint = [UInt8](repeating: 0, count: 20)
        package var authority = [UInt8](repeating: 0, count: 20)
        package var time = [UInt8](repeating: 0, count: 4)
        /// The first byte of UIF.
        package var touch: UInt8 = 0
        package var certificate: [UInt8] = []

        package init() {}
    }

    package var user = Code(value: OpenPGPMemory.defaultUser)
    package var admin = Code(value: OpenPGPMemory.defaultAdmin)
    package var reset = Code(value: [], left: 0)
    package var slots: [VirtualOpenPGPSlot: SlotData] = [:]
    /// Data objects stored as written, by tag.
    package var objects: [TLV.Tag: [UInt8]] = [:]
    /// KDF-DO; empty if no KDF is set up.
    package var kdf: [UInt8] = []
    /// The AES key of PSO:ENCIPHER; empty if not set.
    package var aes: [UInt8] = []
    package var counter: UInt32 = 0
    /// The first byte of C4; `nil` for a new card's.
    var signatureMode: UInt8?
    var isTerminated = false
    /// The root certificate of the attestation chain; empty until the application is first selected.
    package var attestationRoot: [UInt8] = []

    static let defaultUser = Array("123456".utf8)
    static let defaultAdmin = Array("12345678".utf8)
    static let pinLimit = 127

    package init() {}

    package subscript(_ slot: VirtualOpenPGPSlot) -> SlotData {
        get { slots[slot] ?? SlotData() }
        set { slots[slot] = newValue == SlotData() ? nil : newValue }
    }

    /// The memory after TERMINATE and ACTIVATE, which keeps the attestation key with its certificate and touch policy.
    var afterReset: OpenPGPMemory {
        var fresh = OpenPGPMemory()
        fresh[.attestation] = self[.attestation]
        fresh.attestationRoot = attestationRoot
        return fresh
    }

    /// Whether the card holds a key.
    var holdsKey: Bool { slots.values.contains { $0.key != nil } }

    var usesDefaultPINs: Bool { user.value == Self.defaultUser || admin.value == Self.defaultAdmin }
}

extension VirtualKeyState {
    /// The OpenPGP application's memory.
    package var openPGP: OpenPGPMemory {
        get { self[OpenPGPMemory.self] }
        set { self[OpenPGPMemory.self] = newValue }
    }
}

extension OpenPGPMemory: StateRecord {
    package mutating func visit(_ fields: inout StateFields) throws(StateFields.Fault) {
        try fields("user", &user, .record)
        try fields("admin", &admin, .record)
        try fields("reset", &reset, .record)
        try fields("slots", &slots, .entries(by: "slot", .openPGPSlot) { UInt32($0.rawValue) })
        try fields("objects", &objects, .objects(.openPGPTag, order: \.rawValue))
        try fields("kdf", &kdf, .bytes)
        try fields("aes", &aes, .bytes)
        try fields("counter", &counter, .number(0...0xFF_FFFF))
        try fields("signatureMode", &signatureMode, .number(0...1))
        try fields.flag("terminated", &isTerminated)
        try fields("attestationRoot", &attestationRoot, .bytes)
    }
}

extension StateCoding<VirtualOpenPGPSlot> {
    fileprivate static var openPGPSlot: Self {
        StateCoding<UInt8>.number(1...0x81).converted("expected a slot", to: \.rawValue, from: Value.init)
    }
}

extension StateCoding<TLV.Tag> {
    fileprivate static var openPGPTag: Self {
        StateCoding<UInt32>.number(1...0xFFFF).converted("expected a tag", to: \.rawValue) { Value(rawValue: $0) }
    }
}

extension OpenPGPMemory.Code: StateRecord {
    package init() { self.init(value: []) }

    package mutating func visit(_ fields: inout StateFields) throws(StateFields.Fault) {
        try fields("value", &value, .bytes(0...OpenPGPMemory.pinLimit))
        try fields("total", &total, .number(1...99))
        try fields("left", &left, .number(0...total))
    }
}

extension OpenPGPMemory.SlotData: StateRecord {
    package mutating func visit(_ fields: inout StateFields) throws(StateFields.Fault) {
        try fields("attributes", &attributes, .bytes)
        if fields.has("key", writing: key != nil) {
            var stored = key ?? OpenPGPMemory.Key(der: [], isImported: false)
            try fields("key", &stored.der, .bytes)
            try fields.flag("imported", &stored.isImported)
            key = stored
        }
        try fields("fingerprint", &fingerprint, .bytes(20...20))
        try fields("authority", &authority, .bytes(20...20))
        try fields("time", &time, .bytes(4...4))
        try fields("touch", &touch, .number(0...4))
        try fields("certificate", &certificate, .bytes)
    }
}
