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

extension OpenPGPMemory {
    /// The memory as stored in the state file; `nil` if the application was never used.
    package var json: JSONValue? {
        guard self != OpenPGPMemory() else { return nil }
        var object = JSONValue.Object()
        object["user"] = user.json
        object["admin"] = admin.json
        object["reset"] = reset.json
        object["slots"] = .array(
            VirtualOpenPGPSlot.allCases.compactMap { slot in slots[slot].map { .object($0.json(slot)) } })
        object["objects"] = .array(
            objects.sorted { $0.key.rawValue < $1.key.rawValue }.map { tag, content in
                ["tag": .int(Int64(tag.rawValue)), "content": .string(Hex.encode(content))]
            })
        object["kdf"] = .string(Hex.encode(kdf))
        object["aes"] = .string(Hex.encode(aes))
        object["counter"] = .int(Int64(counter))
        object["signatureMode"] = signatureMode.map { .int(Int64($0)) }
        if isTerminated { object["terminated"] = true }
        object["attestationRoot"] = .string(Hex.encode(attestationRoot))
        return .object(object)
    }

    package static func take(from fields: inout StateFields) throws(StateFields.Fault) -> OpenPGPMemory {
        try OpenPGPMemory(try fields.fields(member))
    }

    /// Parses the memory in a state file.
    private init(_ fields: StateFields) throws(StateFields.Fault) {
        var fields = fields
        self.init()
        user = try Code(try fields.fields("user"))
        admin = try Code(try fields.fields("admin"))
        reset = try Code(try fields.fields("reset"))
        for entry in try fields.list("slots") {
            let (slot, data) = try SlotData.read(entry)
            guard slots[slot] == nil else { throw entry.fault("slot", "duplicate slot") }
            slots[slot] = data
        }
        for var entry in try fields.list("objects") {
            let tag: UInt32 = try entry.number("tag", 1...0xFFFF)
            objects[TLV.Tag(rawValue: tag)] = try entry.bytes("content")
            try entry.finish()
        }
        kdf = try fields.bytes("kdf")
        aes = try fields.bytes("aes")
        counter = try fields.number("counter", 0...0xFF_FFFF)
        if fields.has("signatureMode") { signatureMode = try fields.number("signatureMode", 0...1) }
        isTerminated = try fields.flag("terminated")
        attestationRoot = try fields.bytes("attestationRoot")
        try fields.finish()
    }
}

extension OpenPGPMemory.Code {
    fileprivate var json: JSONValue {
        ["value": .string(Hex.encode(value)), "total": .int(Int64(total)), "left": .int(Int64(left))]
    }

    fileprivate init(_ fields: StateFields) throws(StateFields.Fault) {
        var fields = fields
        value = try fields.bytes("value")
        guard value.count <= OpenPGPMemory.pinLimit else { throw fields.fault("value", "expected up to 127 bytes") }
        total = try fields.number("total", 1...99)
        left = try fields.number("left", 0...total)
        try fields.finish()
    }
}

extension OpenPGPMemory.SlotData {
    fileprivate func json(_ slot: VirtualOpenPGPSlot) -> JSONValue.Object {
        var object = JSONValue.Object()
        object["slot"] = .int(Int64(slot.rawValue))
        object["attributes"] = attributes.map { .string(Hex.encode($0)) }
        object["key"] = key.map { .string(Hex.encode($0.der)) }
        if key?.isImported == true { object["imported"] = true }
        object["fingerprint"] = .string(Hex.encode(fingerprint))
        object["authority"] = .string(Hex.encode(authority))
        object["time"] = .string(Hex.encode(time))
        object["touch"] = .int(Int64(touch))
        object["certificate"] = .string(Hex.encode(certificate))
        return object
    }

    fileprivate static func read(
        _ fields: StateFields
    ) throws(StateFields.Fault) -> (VirtualOpenPGPSlot, OpenPGPMemory.SlotData) {
        var fields = fields
        let number: UInt8 = try fields.number("slot", 1...0x81)
        guard let slot = VirtualOpenPGPSlot(rawValue: number) else { throw fields.fault("slot", "expected a slot") }
        var data = OpenPGPMemory.SlotData()
        if fields.has("attributes") { data.attributes = try fields.bytes("attributes") }
        let isImported = try fields.flag("imported")
        if fields.has("key") {
            data.key = OpenPGPMemory.Key(der: try fields.bytes("key"), isImported: isImported)
        }
        data.fingerprint = try fields.bytes("fingerprint", count: 20)
        data.authority = try fields.bytes("authority", count: 20)
        data.time = try fields.bytes("time", count: 4)
        data.touch = try fields.number("touch", 0...4)
        data.certificate = try fields.bytes("certificate")
        try fields.finish()
        return (slot, data)
    }
}

extension StateFields {
    fileprivate mutating func bytes(_ key: String, count: Int) throws(Fault) -> [UInt8] {
        let value = try bytes(key)
        guard value.count == count else { throw fault(key, "expected \(count) bytes") }
        return value
    }
}
