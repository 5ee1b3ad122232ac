// SPDX-License-Identifier: Apache-2.0

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
