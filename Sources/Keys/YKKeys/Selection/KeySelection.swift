// SPDX-License-Identifier: Apache-2.0

/// Which key is meant, and how it is to be reached. Empty, it means the only key that is attached.
public struct KeySelection: Sendable, Hashable {
    /// A preference for a transport.
    public enum Transport: String, Sendable, Hashable, CaseIterable {
        /// Whatever the application works over best.
        case auto
        /// A smart card, through the smart card service (pcscd).
        case pcsc
        /// A smart card on the USB, without the smart card service.
        case usb
        /// HID reports.
        case hid
    }

    /// The serial number.
    public var serial: String?
    /// The name of a reader of the smart card service, or a part of it in any letter case.
    public var reader: String?
    /// A USB port such as `1-2`, or a node such as `/dev/hidraw0`.
    public var path: String?
    /// The transport.
    public var transport: Transport

    /// Creates a selection.
    public init(
        serial: String? = nil, reader: String? = nil, path: String? = nil, transport: Transport = .auto
    ) {
        self.serial = serial
        self.reader = reader
        self.path = path
        self.transport = transport
    }
}
