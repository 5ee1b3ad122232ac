// SPDX-License-Identifier: Apache-2.0

import YKCapture
import YKHardware
public import YKManagement
import YKTransport
import YKVirtualKey

/// The route for reading a key's identity.
package enum ManagementRoute: Sendable, Hashable {
    /// As a smart card.
    case card
    /// Over its FIDO interface: the recorded one, the virtual key's, or the node at this path.
    case fido(path: String?)
    /// Over its keyboard's node at this path.
    case keyboard(path: String)
}

extension KeyRing {
    /// Finds the management application: as selected, otherwise the card, the FIDO interface, or the keyboard, in this
    /// order.
    package func managementRoute() throws(KeyError) -> ManagementRoute {
        if let replay { return replay.capture.header.link == .hid ? .fido(path: nil) : .card }
        if target.transport == .pcsc || target.reader != nil || secureChannel != nil { return .card }
        if let keyboard = try onlyKeyboard() { return .keyboard(path: keyboard) }
        if target.transport == .auto, target.path == nil {
            let hasCard = if software == nil { try hasReachableCard() } else { true }
            if hasCard { return .card }
        }
        if let keyboard = try keyboardNode() { return .keyboard(path: keyboard) }
        guard case .reports(let path) = try fidoRoute() else { return .card }
        return .fido(path: path)
    }

    /// The keyboard of the key with the selected serial number, if the key has no other interface.
    private func onlyKeyboard() throws(KeyError) -> String? {
        guard software == nil, let wanted = target.serial, target.transport != .usb else { return nil }
        let keys = try lifting { () throws(LinkError) in try devices(asking: false) }.keys
        return keys.filter { $0.fido == nil && $0.usbReader == nil }.compactMap(\.otp)
            .first { serial(of: $0) == wanted }?.path
    }

    /// The keyboard selected by its path, or the only one when no key has a FIDO interface.
    private func keyboardNode() throws(KeyError) -> String? {
        guard software == nil, target.serial == nil else { return nil }
        let devices = try lifting { () throws(LinkError) in try hardware.hidDevices() }
        if let path = target.path { return devices.first { $0.path == path && $0.isOTP }?.path }
        guard !devices.contains(where: \.isFIDO) else { return nil }
        return try? target.one(of: devices.filter(\.isOTP), over: .keyboard) { KeyCandidate(.keyboard, at: $0.path) }
            .path
    }

    /// Whether a card is in a reader. A service failure matters only when there is no other interface.
    private func hasReachableCard() throws(KeyError) -> Bool {
        do { return try readers().contains { $0.hasCard } } catch {
            let devices = try lifting { () throws(LinkError) in try hardware.hidDevices() }
            guard !devices.isEmpty else { throw .link(error) }
            return false
        }
    }

    /// The identity of the HID device at a path, or of its replacement.
    func reportIdentity(at path: String?) -> ReportIdentity {
        if let software {
            return ReportIdentity(
                path: "virtual", name: software.state.usbProductName, vendor: USBProduct.vendor,
                product: software.state.usbProduct)
        }
        // The name of a recorded key reveals its vendor, and thus whether more was read from it.
        if let header = replay?.capture.header {
            let (vendor, product) = header.usb ?? (0, 0)
            return ReportIdentity(
                path: header.reader ?? "", name: header.device ?? "", vendor: vendor, product: product)
        }
        guard let found = try? hardware.hidDevices().first(where: { $0.path == path }) else {
            return ReportIdentity(path: path ?? "")
        }
        return found.reportIdentity
    }

    /// Connects to the management application of the selected key.
    func managementLink() throws(KeyError) -> sending ManagementLink {
        switch try managementRoute() {
        case .card: .card(try channel())
        case .fido(let path): .fido(try fidoLink(), reportIdentity(at: path))
        case .keyboard(let path): .keyboard(try keyboard(path), reportIdentity(at: path))
        }
    }

    /// Reads the identity of the selected key over its management route.
    ///
    /// - Throws: ``KeyError``, or `ManagementError` when the key refuses.
    func readIdentity() throws -> DeviceIdentity {
        try ManagementLink.identity(over: try managementLink())
    }
}

/// The interface over which the management application is reached.
enum ManagementLink {
    case card(CardChannel)
    case fido(any FIDOLink, ReportIdentity)
    case keyboard(any OTPLink, ReportIdentity)

    /// Reads the identity of the key; blocks the thread.
    static func identity(over link: sending ManagementLink) throws -> DeviceIdentity {
        switch link {
        case .card(let channel): try .read(channel)
        case .fido(let link, let device): try .read(fido: link, device)
        case .keyboard(let link, let device): try .read(otp: link, device)
        }
    }
}

extension Key {
    /// Opens the management application of a YubiKey over any available interface.
    ///
    /// - Throws: ``KeyError`` when the key cannot be reached, or `ManagementError`.
    public func open(_ service: ManagementService.Type) async throws -> ManagementService {
        let keys = keys
        switch try await offPool({ () throws(KeyError) in try keys.managementLink() }) {
        case .card(let channel): return try await .open(channel)
        case .fido(let link, let device): return try await .open(fido: link, product: device.usbProduct)
        case .keyboard(let link, let device): return try await .open(otp: link, product: device.usbProduct)
        }
    }

    /// Reads what the key reports about itself: its identity, its applications, and the state of OATH; as a card if
    /// possible.
    ///
    /// - Throws: ``KeyError`` when the key cannot be reached, or `ManagementError`, `CardError`, `LinkError`.
    public func report() async throws -> KeyReport {
        let keys = keys
        let link = try await offPool { () throws(KeyError) in try keys.managementLink() }
        switch link {
        case .card(let channel): return try await KeyReport.read(channel)
        case .fido(_, let device), .keyboard(_, let device):
            return KeyReport(try ManagementLink.identity(over: link), path: device.path)
        }
    }
}

extension ReportIdentity {
    /// The USB product, which identifies keys too old to report more.
    fileprivate var usbProduct: USBProduct? { USBProduct(vendor: vendor, product: product) }
}

extension KeyRing.Source {
    /// The virtual key in a file, which is created if it does not exist; without a file the demonstration key in memory.
    ///
    /// - Parameter faults: The faults of its links, as `FaultPlan` reads them.
    package static func virtual(file: String?, faults: String) throws -> KeyRing.Source {
        let key = if let file { try VirtualKey(file: file) } else { VirtualKey.demonstration() }
        return .virtual(key, faults: try FaultPlan(parsing: faults))
    }

    /// The serial number of the virtual key; `nil` for other sources.
    package var virtualSerial: String? {
        guard case .virtual(let key, _) = self else { return nil }
        return String(key.state.profile.serial)
    }

    /// The name of the virtual key's reader; `nil` for other sources.
    package var virtualReader: String? {
        guard case .virtual(let key, _) = self else { return nil }
        return key.link().identity.reader
    }
}
