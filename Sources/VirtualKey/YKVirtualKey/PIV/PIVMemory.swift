// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKCrypto
import YKTransport
import YKWire

/// The persistent state of the PIV application.
package struct PIVMemory: AppletMemory {
    package static let member = "piv"

    /// A PIN or PUK, and its retry counter.
    package struct Code: Hashable, Sendable {
        /// Eight bytes, padded with FF.
        package var value: [UInt8]
        /// The maximum number of retries.
        package var total: UInt8 = 3
        /// The number of retries left.
        package var left: UInt8 = 3
    }

    package var pin = Code(value: PIVMemory.defaultPIN)
    package var puk = Code(value: PIVMemory.defaultPUK)
    /// The management key.
    package var managementKey = PIVMemory.defaultManagementKey
    /// Its algorithm; `nil` for the firmware's default.
    var managementType: UInt8?
    /// Whether it requires a touch.
    var managementTouch = false
    /// Keys by slot.
    package var keys: [UInt8: VirtualPIVKey] = [:]
    /// Data objects by tag.
    package var objects: [UInt32: [UInt8]] = [:]
    /// The root certificate of the attestation chain; empty until the application is first selected.
    package var attestationRoot: [UInt8] = []

    static let defaultPIN: [UInt8] = [0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0xFF, 0xFF]
    static let defaultPUK: [UInt8] = [0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38]
    static let defaultManagementKey = [UInt8]([[UInt8]](repeating: Array(1...8), count: 3).joined())

    package init() {}

    /// The memory of a new key; with a fingerprint sensor, the PIN has eight retries, like its FIDO PIN.
    init(_ profile: DeviceProfile) {
        guard profile.isBio else { return }
        pin.total = 8
        pin.left = 8
    }

    /// The algorithm of the management key: firmware 5.7 changed the default from 3DES to AES-192.
    func managementAlgorithm(_ version: FirmwareVersion) -> UInt8 {
        managementType ?? (version >= FirmwareVersion(5, 7, 0) ? 0x0A : 0x03)
    }

    /// Whether PIN, PUK and management key were changed from their defaults.
    var hasOwnSecrets: Bool {
        pin.value != Self.defaultPIN && puk.value != Self.defaultPUK && managementKey != Self.defaultManagementKey
    }

    /// The memory after a reset, which keeps the attestation.
    func afterReset(_ profile: DeviceProfile) -> PIVMemory {
        var fresh = PIVMemory(profile)
        fresh.keys = keys.filter { $0.key == PIVApplet.attestationSlot }
        fresh.objects = objects.filter { $0.key == PIVApplet.attestationObject }
        fresh.attestationRoot = attestationRoot
        return fresh
    }
}

extension VirtualKeyState {
    /// The PIV application's memory.
    package var piv: PIVMemory {
        get { self[PIVMemory.self] }
        set { self[PIVMemory.self] = newValue }
    }
}

extension PIVMemory: StateRecord {
    package mutating func visit(_ fields: inout StateFields) throws(StateFields.Fault) {
        try fields("pin", &pin, .record)
        try fields("puk", &puk, .record)
        try fields("managementKey", &managementKey, .bytes)
        try fields("managementType", &managementType, .number(0...255))
        try fields.flag("managementTouch", &managementTouch)
        try fields("keys", &keys, .entries(by: "slot", .pivSlot) { UInt32($0) })
        try fields("objects", &objects, .objects(.number(1...0xFF_FFFF)) { $0 })
        try fields("attestationRoot", &attestationRoot, .bytes)
    }
}

extension StateCoding<UInt8> {
    fileprivate static var pivSlot: Self {
        StateCoding<[UInt8]>.bytes.converted("expected one byte", to: { [$0] }, from: { $0.count == 1 ? $0[0] : nil })
    }
}

extension PIVMemory.Code: StateRecord {
    package init() { self.init(value: []) }

    package mutating func visit(_ fields: inout StateFields) throws(StateFields.Fault) {
        try fields("value", &value, .bytes(8...8))
        try fields("total", &total, .number(1...255))
        try fields("left", &left, .number(0...total))
    }
}

extension VirtualPIVKey: StateRecord {
    package init() { self.init(algorithm: 0, der: [], pinPolicy: 1, touchPolicy: 1, isImported: false) }

    package mutating func visit(_ fields: inout StateFields) throws(StateFields.Fault) {
        try fields("algorithm", &algorithm, .number(0...255))
        try fields("key", &der, .bytes)
        try fields("pin", &pinPolicy, .number(1...5))
        try fields("touch", &touchPolicy, .number(1...3))
        try fields.flag("imported", &isImported)
    }
}

/// A private key in a slot.
package struct VirtualPIVKey: Hashable, Sendable {
    /// The algorithm identifier (NIST SP 800-78-4 Table 6-2, Yubico's additions).
    package var algorithm: UInt8
    /// PKCS#8, DER.
    package var der: [UInt8]
    /// The PIN policy: 1 never, 2 once, 3 always.
    package var pinPolicy: UInt8
    /// The touch policy: 1 never, 2 always, 3 cached.
    package var touchPolicy: UInt8
    /// Whether it was imported.
    package var isImported: Bool

    /// The size of an RSA modulus, in bytes.
    static let modulusSizes: [UInt8: Int] = [0x05: 384, 0x06: 128, 0x07: 256, 0x16: 512]
    /// The curves.
    static let curves: [UInt8: VerificationKey.Curve] = [0x11: .p256, 0x14: .p384]
    static let ed25519: UInt8 = 0xE0
    static let x25519: UInt8 = 0xE1

    /// Whether a key of this version and series supports an algorithm; FIPS keys support neither RSA 1024 nor X25519.
    static func isKnown(_ algorithm: UInt8, _ profile: DeviceProfile) -> Bool {
        let version = profile.version
        return switch algorithm {
        case 0x06, x25519: !profile.isFIPS && (algorithm == 0x06 || version >= FirmwareVersion(5, 7, 0))
        case 0x07, 0x11: true
        case 0x14: version >= FirmwareVersion(4, 0, 0)
        case 0x05, 0x16, ed25519: version >= FirmwareVersion(5, 7, 0)
        default: false
        }
    }

    func privateKey() throws(Refusal) -> PrivateKey {
        do { return try PrivateKey(der: Secret(der)) } catch { throw .status(.memoryFailure) }
    }

    /// The public key. A card stores it; deriving it takes OpenSSL half a millisecond, so it is cached.
    func publicKey() throws(Refusal) -> PublicKey {
        let digest = HashAlgorithm.sha256.hash(der)
        if let known = Self.derived.withLock({ $0[digest] }) { return known }
        let fresh = try privateKey().publicKey
        Self.derived.withLock { known in
            if known.count >= 64 { known = [:] }
            known[digest] = fresh
        }
        return fresh
    }

    /// Public keys by the SHA-256 digest of the private key.
    private static let derived = Mutex<[[UInt8]: PublicKey]>([:])

    /// Generates a key: scalars on curves from the key's randomness, RSA with OpenSSL.
    static func generate(_ algorithm: UInt8, _ inputs: VirtualInputs) throws(Refusal) -> PrivateKey {
        if let size = modulusSizes[algorithm] {
            return try inputs.keyPairs.take(size * 8)
        }
        for _ in 0..<16 {
            let number = Secret(try inputs.draw(curves[algorithm]?.fieldSize ?? 32))
            let key: PrivateKey? =
                switch algorithm {
                case ed25519: try? PrivateKey(ed25519: number)
                case x25519: try? PrivateKey(x25519: number)
                default: curves[algorithm].flatMap { try? PrivateKey($0, scalar: number) }
                }
            if let key { return key }
        }
        throw .status(.memoryFailure)
    }

    /// The data objects of a public key (NIST SP 800-73-4 Part 2 Table 11).
    static func objects(_ key: PublicKey) -> [UInt8] {
        switch key {
        case .rsa(let modulus, let exponent): [TLV(0x81, modulus), TLV(0x82, exponent)].encoded
        case .ec(_, let point), .ed25519(let point), .x25519(let point): TLV(0x86, point).encoded
        }
    }
}
