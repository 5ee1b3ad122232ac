// SPDX-License-Identifier: Apache-2.0

import CPCSC
public import YKTransport
import YKWire

/// A card link with access to the reader: through the smart card service, or on USB without it.
public protocol ReaderLink: CardLink {
    /// Returns the state of the card and its connection (SCardStatus).
    func connection(deadline: Deadline) throws(LinkError) -> CardConnection
    /// Sends bytes to the reader instead of the card, and returns its response (SCardControl); codes are
    /// vendor-specific, or defined in PC/SC part 10.
    func control(_ code: UInt32, _ bytes: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8]
    /// Returns an attribute of reader or card by its tag (SCardGetAttrib, PC/SC part 3 §3.1.9).
    func attribute(_ tag: UInt32, deadline: Deadline) throws(LinkError) -> [UInt8]
}

/// The state of a connection to a card.
public struct CardConnection: Hashable, Sendable {
    /// The bits of SCARD_PRESENT, SCARD_POWERED and others; above them, in pcsc-lite, the number of card insertions and
    /// removals.
    public var state: UInt32
    /// The bit of the active protocol.
    public var activeProtocol: UInt32
    /// The answer to reset.
    public var atr: [UInt8]

    /// Creates a connection state.
    public init(state: UInt32, activeProtocol: UInt32, atr: [UInt8]) {
        self.state = state
        self.activeProtocol = activeProtocol
        self.atr = atr
    }
}

extension PCSCLink: ReaderLink {
    func connection(deadline: Deadline) throws(LinkError) -> CardConnection {
        try run("the state of the card", deadline) { session throws(PCSCFailure) in try session.connection() }
    }

    func control(_ code: UInt32, _ bytes: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        try run("the reader's answer", deadline) { session throws(PCSCFailure) in try session.control(code, bytes) }
    }

    func attribute(_ tag: UInt32, deadline: Deadline) throws(LinkError) -> [UInt8] {
        try run("an attribute of the reader", deadline) { session throws(PCSCFailure) in try session.attribute(tag) }
    }
}

/// The features of a reader (PC/SC part 10 §2.2 and §2.6.14).
enum ReaderFeatures {
    /// CM_IOCTL_GET_FEATURE_REQUEST.
    static let featureRequest: DWORD = 0x4200_0000 + 3400
    /// IOCTL_CCID_ESCAPE, SCARD_CTL_CODE(1) of libccid.
    static let escape: UInt32 = 0x4200_0000 + 1
    /// FEATURE_CCID_ESC_COMMAND (PC/SC part 10 §2.2) with that code: the only feature of a reader without a service.
    static let ofDirectReader: [UInt8] = [0x13, 4, 0x42, 0x00, 0x00, 0x01]
    /// FEATURE_GET_TLV_PROPERTIES.
    static let propertiesFeature: UInt8 = 0x12
    /// PCSCv2_PART10_PROPERTY_dwMaxAPDUDataSize.
    static let maxDataSizeProperty: UInt8 = 0x0A

    /// The longest command APDU that the reader accepts, in bytes; `nil` when the reader does not report it.
    static func maxCommandLength(_ card: SCARDHANDLE, _ library: PCSCLibrary) -> Int? {
        guard let features = ask(card, featureRequest, library),
            let code = controlCode(of: propertiesFeature, in: features),
            let properties = ask(card, DWORD(code), library)
        else { return nil }
        return maxCommandLength(in: properties)
    }

    private static func ask(_ card: SCARDHANDLE, _ code: DWORD, _ library: PCSCLibrary) -> [UInt8]? {
        var reply = [UInt8](repeating: 0, count: 264)
        var length: DWORD = 0
        guard PCSCCode(library.control(card, code, nil, 0, &reply, DWORD(reply.count), &length)) == .success,
            length <= DWORD(reply.count)
        else { return nil }
        return Array(reply.prefix(Int(length)))
    }

    /// The control code of a feature: tag, length 4, big-endian code.
    static func controlCode(of feature: UInt8, in list: [UInt8]) -> UInt32? {
        guard let value = value(of: feature, in: list), value.count == 4 else { return nil }
        return value.reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The longest command from the properties: 0 means short only, otherwise the maximum data length, least
    /// significant byte first.
    static func maxCommandLength(in properties: [UInt8]) -> Int? {
        guard let value = value(of: maxDataSizeProperty, in: properties), value.count == 4 else { return nil }
        let size = value.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return size <= 255 ? 261 : 9 + Int(min(size, 65535))
    }

    private static func value(of tag: UInt8, in list: [UInt8]) -> [UInt8]? {
        var reader = ByteReader(list)
        while let found = try? reader.byte(), let length = try? reader.byte() {
            guard let value = try? reader.bytes(Int(length)) else { return nil }
            if found == tag { return value }
        }
        return nil
    }
}
