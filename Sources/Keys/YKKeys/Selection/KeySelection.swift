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
    public let serial: String?
    /// The name of a reader of the smart card service, or a part of it in any letter case.
    public let reader: String?
    /// The USB port of a key, such as `1-2`, or one of its nodes, such as `/dev/hidraw3`.
    public let path: String?
    /// The transport.
    public let transport: Transport

    /// Creates a selection.
    public init(
        serial: String? = nil, reader: String? = nil, path: String? = nil, transport: Transport = .auto
    ) {
        self.serial = serial
        self.reader = reader
        self.path = path
        self.transport = transport
    }

    /// Returns the same selection with another serial number.
    public func with(serial: String) -> KeySelection {
        KeySelection(serial: serial, reader: reader, path: path, transport: transport)
    }

    /// Returns the same selection over another transport.
    public func over(_ transport: Transport) -> KeySelection {
        KeySelection(serial: serial, reader: reader, path: path, transport: transport)
    }
}

extension KeySelection: CustomStringConvertible {
    /// The selection in words, such as `the key with serial number 5417533`.
    public var description: String {
        if let serial { return "the key with serial number \(serial)" }
        if let reader { return "the key in reader \(reader)" }
        if let path { return "the key at \(path)" }
        return "the only key"
    }
}
