// SPDX-License-Identifier: Apache-2.0

import YKHardware
import YKManagement

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
