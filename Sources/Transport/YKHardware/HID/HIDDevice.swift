// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKTransport
public import YKWire

/// A HID device that is or may be a security key: a FIDO authenticator, or the keyboard interface of a key with OTP.
public struct HIDDevice: Sendable, Hashable {
    /// Whether this user may use the device.
    public enum Access: Sendable, Hashable {
        /// The device is accessible.
        case readable
        /// The node's permissions deny access; a udev rule is missing, or the session is not at the seat.
        case denied
        /// There is no node, as in a container with only /sys.
        case missing
    }

    /// The node, such as `/dev/hidraw0`.
    public var path: String
    /// The device's folder in sysfs.
    public var sysPath: String
    /// The port of the USB device, such as `1-2` or `1-1.4`; `nil` for other buses.
    public var usbPath: String?
    /// The USB vendor number.
    public var vendor: UInt16
    /// The USB product number.
    public var product: UInt16
    /// The name reported by the device: manufacturer and product.
    public var name: String
    /// The serial number in the USB descriptor, if present.
    public var serial: String?
    /// The usage: `HIDUsage.fido` for a FIDO authenticator, `HIDUsage.keyboard` for an OTP application.
    public var usage: HIDUsage
    /// The longest report from the device, in bytes.
    public var inputReportLength: Int
    /// The longest report to the device, in bytes.
    public var outputReportLength: Int
    /// The longest feature report, in bytes.
    public var featureReportLength: Int
    /// Whether this user may use it.
    public var access: Access

    /// The usage page: F1D0 for FIDO.
    public var usagePage: UInt16 { usage.page }
    /// Whether this is a FIDO authenticator.
    public var isFIDO: Bool { usage == .fido }
    /// Whether this is the interface of a key's OTP application.
    public var isOTP: Bool { usage == .keyboard }
}

/// A change of a HID device.
public enum HIDEvent: Sendable, Hashable {
    /// A device was attached.
    case arrived(HIDDevice)
    /// A device changed, for example its permissions.
    case changed(HIDDevice)
    /// A device was removed.
    case left(HIDDevice)
    /// All devices that were attached at the start have been reported.
    case enumerated
}

extension HIDDevice {
    /// Vendors whose keys have an OTP application behind a keyboard interface: Yubico, and OpenMoko for OnlyKey.
    private static let keyboardVendors: Set<UInt16> = [0x1050, 0x1D50]

    /// Reads the kernel's description of the device in a folder such as `/sys/class/hidraw/hidraw0`, with links
    /// resolved; nothing is sent to the device. Returns `nil` when it is not a security key, or was just removed.
    init?(sysPath: String, devices: String) {
        guard let bytes = SystemFile.bytes("\(sysPath)/device/report_descriptor"),
            let descriptor = try? HIDReportDescriptor(decoding: bytes),
            let facts = SystemFile.text("\(sysPath)/device/uevent").map(Self.variables),
            let numbers = facts["HID_ID"].flatMap(Self.numbers)
        else { return nil }
        guard !Self.isBridge(numbers, facts["HID_NAME"], at: sysPath) else { return nil }
        let isOTP = descriptor.isOTPKeyboard && Self.keyboardVendors.contains(numbers.vendor)
        guard descriptor.isFIDO || isOTP else { return nil }
        path = Self.path(String(sysPath.split(separator: "/").last ?? ""), devices: devices)
        self.sysPath = sysPath
        usbPath = Self.usbPath(in: sysPath)
        (vendor, product) = numbers
        name = facts["HID_NAME"] ?? ""
        serial = facts["HID_UNIQ"]
        usage = descriptor.isFIDO ? .fido : .keyboard
        inputReportLength = descriptor.length(of: .input)
        outputReportLength = descriptor.length(of: .output)
        featureReportLength = descriptor.length(of: .feature)
        access = Self.access(to: path)
    }

    /// The node of a device, also one that `ykit guard` has taken.
    private static func path(_ name: String, devices: String) -> String {
        let (usual, taken) = ("\(devices)/\(name)", "\(devices)/ykit-guard/\(name)")
        return Self.access(to: usual) == .missing && Self.access(to: taken) != .missing ? taken : usual
    }

    /// The `NAME=value` lines of a uevent file, without empty values.
    static func variables(_ text: String) -> [String: String] {
        text.split(separator: "\n").reduce(into: [:]) { found, line in
            let parts = line.split(separator: "=", maxSplits: 1)
            if parts.count == 2 { found[String(parts[0])] = String(parts[1]) }
        }
    }

    /// Parses bus, vendor and product such as `0003:00001050:00000407`.
    static func numbers(_ text: String) -> (vendor: UInt16, product: UInt16)? {
        let parts = text.split(separator: ":").map { UInt32($0, radix: 16) }
        guard parts.count == 3, let vendor = parts[1], let product = parts[2] else { return nil }
        return (UInt16(truncatingIfNeeded: vendor), UInt16(truncatingIfNeeded: product))
    }

    /// The last USB device in a path: `…/usb1/1-2/1-2:1.1/…` is at 1-2.
    static func usbPath(in sysPath: String) -> String? {
        let folders = sysPath.split(separator: "/")
        for (folder, next) in zip(folders, folders.dropFirst()).reversed() where next.hasPrefix("\(folder):") {
            if folder.first?.isNumber ?? false, folder.contains("-") { return String(folder) }
        }
        return nil
    }

    /// Whether this user may read and write a node.
    static func access(to path: String) -> Access {
        if faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0 { return .readable }
        return errno == ENOENT ? .missing : .denied
    }
}

/// The HID device of a bridge to smart cards, to a remote key or of a guard. It is no key: what it presents is used in
/// another way.
package struct BridgeDevice: Hashable, Sendable {
    /// The vendor number: pid.codes, for open projects.
    package static let vendor: UInt16 = 0x1209
    /// The product number.
    package static let product: UInt16 = 0x796B

    /// The name of a guard's device, which may have the numbers of its key.
    package static let guardName = "ykit guard"

    /// The node, such as `/dev/hidraw0`.
    package let path: String
    /// Its name, which says what it is; empty without one.
    package let name: String
    /// The user who owns the node, as set by udev; `nil` without one.
    package let owner: String?
    /// Whether this user may use it.
    package let access: HIDDevice.Access

    /// The bridges of this machine, ordered by node number.
    package static func all(system: String = "/sys", devices: String = "/dev") -> [BridgeDevice] {
        let folder = "\(system)/class/hidraw"
        let found = SystemFile.names(in: folder).compactMap { name -> BridgeDevice? in
            guard let facts = SystemFile.text("\(folder)/\(name)/device/uevent").map(HIDDevice.variables),
                let numbers = facts["HID_ID"].flatMap(HIDDevice.numbers),
                let sysPath = SystemFile.real("\(folder)/\(name)"),
                HIDDevice.isBridge(numbers, facts["HID_NAME"], at: sysPath)
            else { return nil }
            let path = "\(devices)/\(name)"
            return BridgeDevice(
                path: path, name: facts["HID_NAME"] ?? "", owner: facts["HID_UNIQ"], access: HIDDevice.access(to: path))
        }
        return found.sorted { ($0.path.utf8.count, $0.path) < ($1.path.utf8.count, $1.path) }
    }

    /// The names of the other programs that have it open, each once, as far as this user may see them: the user's own.
    package var programs: [String] {
        Set(Processes.others().filter { Processes.open(by: $0).contains(path) }.map { Processes.holder($0).name })
            .sorted()
    }
}

extension HIDDevice {
    /// Whether vendor and product number are a bridge's, or a device of a program has the name of a guard.
    static func isBridge(_ numbers: (vendor: UInt16, product: UInt16), _ name: String?, at sysPath: String) -> Bool {
        numbers == (BridgeDevice.vendor, BridgeDevice.product)
            || name == BridgeDevice.guardName && sysPath.contains("/virtual/misc/uhid/")
    }
}
