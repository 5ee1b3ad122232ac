// SPDX-License-Identifier: Apache-2.0

import YKTransport

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
