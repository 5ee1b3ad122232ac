// SPDX-License-Identifier: Apache-2.0

package import YKHardware
package import YKManagement
package import YKTransport

/// Observations about a machine and its keys; the diagnosis uses nothing else.
package struct MachineFacts: Sendable {
    /// The kind of environment, and its name for this application.
    package var machine: MachineKind = .plain
    package var application: String?
    /// The USB devices; `nil` if the kernel does not show them.
    package var usb: [USBPresence]? = []
    /// The security keys among the HID devices.
    package var devices: [HIDDevice] = []
    /// The facts about HID nodes and the nodes of USB card readers, by path.
    package var nodes: [String: NodeFacts] = [:]
    /// The effect of the udev rule on an inaccessible node.
    package var rule: @Sendable (String) -> UDevRule = { UDevRule(for: $0) }
    /// The login session.
    package var login = LoginFacts()
    /// The USB card readers, by port.
    package var slots: [String: Slot] = [:]
    /// Whether libusb-1.0 is installed; without it, cards are reachable only through the service.
    package var hasUSBLibrary = true
    /// The readers, or why they cannot be listed.
    package var readers: Result<[ReaderStatus], LinkError> = .success([])
    /// The observable state of the smart card service, its program version, and its clients.
    package var service = ServiceFacts()
    package var serviceVersion: String?
    package var clients: [LinkError.Holder] = []
    /// Whether a time service keeps the clock right; `nil` if that cannot be determined.
    package var isClockKept: Bool?
    /// The answers of the reachable keys.
    package var keys: [AskedKey] = []
    /// Whether this process's user is in the udev rule's group, but the process does not have the group yet.
    var isGroupPending = false

    package init() {}

    /// A USB card reader, or one in a key.
    package struct Slot: Sendable {
        /// The node of its device, and whether this user has access.
        package var node: String
        package var access: HIDDevice.Access
        /// The programs that have claimed it.
        package var holders: [LinkError.Holder] = []
        /// Its name in the smart card service, if listed there.
        package var reader: String?

        package init(
            node: String, access: HIDDevice.Access, holders: [LinkError.Holder] = [], reader: String? = nil
        ) {
            self.node = node
            self.access = access
            self.holders = holders
            self.reader = reader
        }
    }

    /// The USB devices that are security keys, judging by ids, names and interfaces.
    var usbKeys: [USBPresence] {
        let fido = Set(devices.compactMap(\.usbPath))
        return (usb ?? []).filter { device in
            let identity = DeviceIdentity(vendor: device.vendor, product: device.product, name: device.name)
            return identity.maker != .unknown || fido.contains(device.port)
                || device.interfaces.contains(where: \.isReader)
        }
    }
}

/// The answers of a key over one of its interfaces.
package struct AskedKey: Sendable {
    /// The reader or node.
    package var place: String
    /// The interface.
    package var access: KeyFinding.Access
    package var identity: Result<DeviceIdentity, KeyFailure>
    /// The applications of the card that were selected, and whether each is present.
    package var applications: [(capability: Capability, isThere: Bool)] = []
    /// The retries of OpenPGP's reset code; `nil` if not reported.
    package var resetCodeTries: Int?
    /// The version of a NEO's OpenPGP; `nil` if not reported.
    package var openPGPVersion: FirmwareVersion?

    package init(_ place: String, _ access: KeyFinding.Access, _ identity: Result<DeviceIdentity, KeyFailure>) {
        self.place = place
        self.access = access
        self.identity = identity
    }
}

/// The steps from the USB port to the firmware.
extension MachineFacts {
    /// All findings, in order of dependency.
    package var findings: [Finding] {
        guard keys.first?.access != .virtual else { return answers }
        return environment + clock + bus + deviceNodes + cardService + cards + answers
    }

    private var environment: [Finding] {
        machine == .plain ? [] : [Finding(.machine, .note, .environment(machine))]
    }

    /// Whether the clock, on which one-time codes and approvals depend, is right.
    private var clock: [Finding] {
        isClockKept.map { [Finding(.clock, $0 ? .good : .note, .clock(isKept: $0))] } ?? []
    }

    // MARK: the bus

    /// The attached devices and their interfaces.
    private var bus: [Finding] {
        let keys = usbKeys
        guard keys.isEmpty else {
            return keys.map(attached) + keys.flatMap(fewInterfaces) + keys.flatMap(drivers) + several
        }
        guard devices.isEmpty else { return several }
        if case .success(let readers) = readers, !readers.isEmpty {
            return [Finding(.usb, .note, .bus(.onlyReaders))] + several
        }
        return [Finding(.usb, .problem, .bus(usb == nil ? .noUSB : .noKey))]
    }

    private func attached(_ key: USBPresence) -> Finding {
        guard key.isAuthorized else { return Finding(.usb, .problem, .bus(.unauthorized(key.inPort))) }
        let kinds = Set(
            key.interfaces.map { interface -> PortedKey.Interface in
                interface.isHID ? .hid : interface.isReader ? .smartCard : .other
            })
        return Finding(.usb, .good, .bus(.attached(key.inPort, kinds.sorted { $0.rawValue < $1.rawValue })))
    }

    /// Disabled interfaces of a Yubico key.
    private func fewInterfaces(_ key: USBPresence) -> [Finding] {
        guard let product = USBProduct(vendor: key.vendor, product: key.product), product.family == .fourAndFive,
            product.interfaces != [.otp, .fido, .ccid]
        else { return [] }
        return [Finding(.interfaces, .note, .bus(.fewInterfaces(key.inPort, product.interfaces)))]
    }

    /// Interfaces without a kernel driver, or with the wrong one.
    private func drivers(_ key: USBPresence) -> [Finding] {
        key.interfaces.compactMap { interface in
            if interface.isHID {
                return obstacle(interface).map { obstacle in
                    Finding(.driver, .problem, .bus(.noNode(key.inPort, interface: interface.name, obstacle)))
                }
            }
            guard interface.isReader, let driver = interface.driver, driver != "usbfs" else { return nil }
            return Finding(.driver, .problem, .bus(.readerTaken(key.inPort, driver: driver)))
        }
    }

    /// Why a HID interface has no hidraw node.
    private func obstacle(_ interface: USBPresence.Interface) -> HIDObstacle? {
        switch (interface.driver, interface.hid) {
        case (nil, _): .noDriver
        case ("usbfs", _): .taken
        case (_, let hid?) where hid.driver == nil: .noHIDDriver(hid.name)
        case (_, let hid?) where hid.node == nil: .noHIDRaw
        default: nil
        }
    }

    /// Several keys are attached, so that one must be selected.
    private var several: [Finding] {
        let onUSB = Set(usbKeys.map(\.port))
        let others = devices.filter { device in !(device.usbPath.map(onUSB.contains) ?? false) && device.isFIDO }
        let taken = Set(slots.values.compactMap(\.reader))
        var cards: [ReaderStatus] = []
        if case .success(let readers) = readers { cards = readers.filter { $0.hasCard && !taken.contains($0.name) } }
        let count = usbKeys.count + others.count + cards.count
        return count > 1 ? [Finding(.several, .note, .bus(.several(count)))] : []
    }
}

extension USBPresence {
    fileprivate var inPort: PortedKey {
        PortedKey(name: DeviceIdentity(vendor: vendor, product: product, name: name).product, port: port)
    }
}
