// SPDX-License-Identifier: Apache-2.0

import YKHardware
public import YKTransport

/// The ways of reaching keys that this machine offers, and why others are unavailable, regardless of which keys are
/// attached.
///
/// ```swift
/// let capabilities = await KeyRing().capabilities()
/// if case .noHIDRaw? = capabilities.obstacle(to: .hid) { print("FIDO over USB is unavailable") }
/// ```
public struct KeyCapabilities: Sendable, Hashable {
    /// A way of reaching keys.
    public enum Way: Sendable, Hashable, CaseIterable {
        /// Smart cards, through the smart card service (pcscd).
        case smartCardService
        /// Smart cards in a USB port, without the service.
        case usb
        /// FIDO and OTP, over HID.
        case hid
        /// Keys and cards on a contactless reader.
        case nfc
    }

    /// Why a way is unavailable.
    public enum Obstacle: Sendable, Hashable {
        /// The smart card service cannot be used.
        case service(LinkError)
        /// The service lists no contactless reader. A reader is recognized by its name, or by the card on it.
        case noContactlessReader
        /// libusb-1.0 is not installed.
        case noUSBLibrary
        /// The kernel shows no USB devices, as in some containers.
        case noUSB
        /// The kernel shows no HID devices.
        case noHIDRaw
        /// Devices are attached, but this user may open none of these nodes.
        case denied([String])
    }

    /// Why each unavailable way cannot be used.
    public let obstacles: [Way: Obstacle]

    /// Returns why a way cannot be used; `nil` if it is available.
    public func obstacle(to way: Way) -> Obstacle? { obstacles[way] }

    /// Whether a way is available.
    public func offers(_ way: Way) -> Bool { obstacles[way] == nil }
}

extension KeyRing {
    /// Finds out which ways of reaching keys this machine offers; sends nothing to any key.
    public func capabilities() async -> KeyCapabilities {
        let keys = self
        let obstacles = try? await offPool { () throws(KeyError) in keys.obstacles() }
        return KeyCapabilities(obstacles: obstacles ?? [:])
    }

    private func obstacles() -> [KeyCapabilities.Way: KeyCapabilities.Obstacle] {
        var found: [KeyCapabilities.Way: KeyCapabilities.Obstacle] = [:]
        do {
            if try !readers().contains(where: \.isOnContactlessReader) { found[.nfc] = .noContactlessReader }
        } catch {
            (found[.smartCardService], found[.nfc]) = (.service(error), .service(error))
        }
        let usb = hardware.usbDevices().filter { $0.reader != nil }
        found[.usb] =
            !hardware.hasUSBLibrary
            ? .noUSBLibrary : !hardware.hasUSB ? .noUSB : denied(usb.map { ($0.node, $0.access) })
        let hid = (try? hardware.hidDevices()) ?? []
        found[.hid] = hardware.hasHIDRaw ? denied(hid.map { ($0.path, $0.access) }) : .noHIDRaw
        return found
    }

    private func denied(_ nodes: [(path: String, access: HIDDevice.Access)]) -> KeyCapabilities.Obstacle? {
        let isDenied = !nodes.isEmpty && nodes.allSatisfy { $0.access != .readable }
        return isDenied ? .denied(nodes.map(\.path)) : nil
    }
}

extension ReaderStatus {
    /// Whether the reader is contactless, according to its card or its name.
    fileprivate var isOnContactlessReader: Bool {
        let name = name.lowercased()
        return contactless != nil || ["contactless", "picc", "nfc", " cl "].contains { name.contains($0) }
    }
}
