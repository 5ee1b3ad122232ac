// SPDX-License-Identifier: Apache-2.0

import YKCapture
import YKFIDO
import YKHardware
import YKManagement
import YKTransport
import YKVirtualKey

extension World {
    /// The way to what a key says of itself.
    enum ManagementWay: Hashable {
        /// A smart card.
        case card
        /// The FIDO interface: the recorded one, the software key's, or the node at this path.
        case fido(path: String?)
        /// The keyboard's node at this path.
        case keyboard(path: String)
    }

    /// Finds the way: what the options say, else the card of the key that is meant, else its FIDO interface.
    func managementWay() throws -> ManagementWay {
        if let replay { return replay.capture.header.link == .hid ? .fido(path: nil) : .card }
        if selection.link == .pcsc || selection.reader != nil { return .card }
        if let keyboard = try loneKeyboard() { return .keyboard(path: keyboard) }
        if selection.link == .auto, selection.path == nil, try software != nil || hasReachableCard() { return .card }
        if let keyboard = try keyboardNode() { return .keyboard(path: keyboard) }
        guard case .reports(let path) = try fidoWay() else { return .card }
        return .fido(path: path)
    }

    /// The keyboard of the key with the serial number that is asked for, where there is nothing else to ask it by.
    private func loneKeyboard() throws -> String? {
        guard software == nil, selection.device != nil, selection.link != .usb else { return nil }
        let keys = try Discovery.keys(asking: false, cancellation: environment.cancellation).keys
        return keys.filter { $0.fido == nil && $0.usbReader == nil }.compactMap(\.otp).first(where: isMeant)?.path
    }

    /// The keyboard that is meant by its path, or the only one where no key has a FIDO interface.
    private func keyboardNode() throws -> String? {
        guard software == nil, selection.device == nil else { return nil }
        let devices = try HIDRaw.devices()
        if let path = selection.path { return devices.first { $0.path == path && $0.isOTP }?.path }
        guard !devices.contains(where: \.isFIDO) else { return nil }
        let keyboards = devices.filter(\.isOTP)
        return keyboards.count == 1 ? keyboards.first?.path : nil
    }

    /// The OTP interface at a path, recorded and logged as asked for.
    func keyboard(_ path: String) throws -> sending any OTPLink {
        guard case .reports(let link) = try openOTP() else {
            throw Explanation("no-such-device", .noDevice, "no key is at \(path.printable)", hint: "ykit list")
        }
        return HIDOTPLink(link, environment: environment)
    }

    /// Whether there is a card to ask. What keeps from asking counts only when there is no other way.
    private func hasReachableCard() throws -> Bool {
        do { return try readers().contains { $0.hasCard } } catch {
            guard try !HIDRaw.devices().isEmpty else { throw error }
            return false
        }
    }

    /// The management of the key that is meant.
    func openManagement() async throws -> ManagementService {
        switch try managementWay() {
        case .card: return try await .open(try connect())
        case .fido(let path):
            let device = device(at: path)
            return try await .open(
                fido: try fido(), product: USBProduct(vendor: device.vendor, product: device.product))
        case .keyboard(let path):
            let device = device(at: path)
            return try await .open(
                otp: try keyboard(path), product: USBProduct(vendor: device.vendor, product: device.product))
        }
    }

    /// What is known of the HID device at a path, or of what plays one.
    func device(at path: String?) -> ReportIdentity {
        if let software {
            return ReportIdentity(
                path: "virtual", name: software.state.usbProductName, vendor: USBProduct.vendor,
                product: software.state.usbProduct)
        }
        // The name of a recorded key tells its maker, and so whether it was asked more.
        if let header = replay?.capture.header {
            let (vendor, product) = header.usb ?? (0, 0)
            return ReportIdentity(
                path: header.reader ?? "", name: header.device ?? "", vendor: vendor, product: product)
        }
        guard let found = try? HIDRaw.devices().first(where: { $0.path == path }) else {
            return ReportIdentity(path: path ?? "")
        }
        return ReportIdentity(path: found.path, name: found.name, vendor: found.vendor, product: found.product)
    }
}
