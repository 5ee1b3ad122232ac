// SPDX-License-Identifier: Apache-2.0

/// Which key to use, and over which transport. An empty selection means the only attached key.
public struct KeySelection: Sendable, Hashable {
    /// A preference for a transport.
    public enum Transport: String, Sendable, Hashable, CaseIterable {
        /// The best transport for the application.
        case auto
        /// A smart card, through the smart card service (pcscd).
        case pcsc
        /// A smart card on USB, without the smart card service.
        case usb
        /// HID reports.
        case hid
    }

    /// The serial number.
    public var serial: String?
    /// The name of a reader of the smart card service, or a part of it in any letter case.
    public var reader: String?
    /// The name of a reader of the smart card service, or a part of it, ignoring case.
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
