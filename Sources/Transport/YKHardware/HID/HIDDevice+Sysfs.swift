// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKWire

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
