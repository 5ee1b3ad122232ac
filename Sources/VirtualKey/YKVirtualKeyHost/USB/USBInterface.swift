// SPDX-License-Identifier: Apache-2.0

import YKVirtualKey

/// An interface of a USB device: its descriptors and how it handles transfers.
protocol USBInterface {
    /// The endpoint addresses; bit 80 marks data from the device.
    var endpoints: [UInt8] { get }
    /// The interface descriptor and everything that belongs to it, for this interface number.
    func descriptors(number: UInt8) -> [UInt8]
    /// Answers a control transfer; `nil` stalls it.
    mutating func control(_ request: USBRequest, _ data: [UInt8]) -> [UInt8]?
    /// Processes data received on an endpoint.
    mutating func receive(_ data: [UInt8], at now: ContinuousClock.Instant)
    /// Returns the data that is ready for the host on an endpoint.
    mutating func next(endpoint: UInt8, at now: ContinuousClock.Instant) -> [UInt8]?
    /// Returns at most `limit` bytes of that data; the next call returns the rest.
    mutating func next(endpoint: UInt8, limit: Int, at now: ContinuousClock.Instant) -> [UInt8]?
    /// Performs work that is due.
    mutating func poll(at now: ContinuousClock.Instant)
    /// The time until work is due; `nil` if there is none until the host sends something.
    func pause(at now: ContinuousClock.Instant) -> Duration?
    /// How a fault removed the key.
    var absence: FaultPlan.Absence? { get }
    /// Whether an endpoint is halted until the host clears the condition.
    func isHalted(_ endpoint: UInt8) -> Bool
    /// Clears the halt condition of an endpoint.
    mutating func clearHalt(_ endpoint: UInt8)
}

extension USBInterface {
    mutating func next(endpoint: UInt8, limit: Int, at now: ContinuousClock.Instant) -> [UInt8]? {
        next(endpoint: endpoint, at: now).map { Array($0.prefix(limit)) }
    }

    mutating func poll(at now: ContinuousClock.Instant) {}
    func pause(at now: ContinuousClock.Instant) -> Duration? { nil }
    var absence: FaultPlan.Absence? { nil }
    func isHalted(_ endpoint: UInt8) -> Bool { false }
    mutating func clearHalt(_ endpoint: UInt8) {}
}

/// The setup packet of a control transfer (USB 2.0 §9.3).
struct USBRequest: Hashable, Sendable {
    /// Direction, type and recipient.
    var kind: UInt8
    /// The request code.
    var request: UInt8
    /// The request's parameter.
    var value: UInt16
    /// The interface or endpoint.
    var index: UInt16
    /// The number of bytes that follow or are requested.
    var length: UInt16

    /// Parses the eight bytes; numbers are little-endian.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == 8 else { return nil }
        kind = bytes[0]
        request = bytes[1]
        value = UInt16(bytes[2]) | UInt16(bytes[3]) << 8
        index = UInt16(bytes[4]) | UInt16(bytes[5]) << 8
        length = UInt16(bytes[6]) | UInt16(bytes[7]) << 8
    }

    /// Whether the request is addressed to an interface.
    var isForInterface: Bool { kind & 0x1F == 1 }
    /// Whether this is a class request.
    var isOfClass: Bool { kind & 0x60 == 0x20 }
}

/// Encodes descriptors (USB 2.0 §9.6).
enum USBDescriptor {
    /// Encodes a two-byte little-endian number.
    static func word(_ number: UInt16) -> [UInt8] { [UInt8(truncatingIfNeeded: number), UInt8(number >> 8)] }

    /// Encodes an interface descriptor: its number, endpoint count, class, subclass, protocol, and the index of its
    /// name.
    static func interface(
        _ number: UInt8, endpoints: UInt8, _ kind: UInt8, _ subclass: UInt8 = 0, _ protocol: UInt8 = 0
    ) -> [UInt8] {
        [9, 4, number, 0, endpoints, kind, subclass, `protocol`, 0]
    }

    /// Encodes an endpoint descriptor: its address, transfer type (2 bulk, 3 interrupt), maximum packet size and
    /// interval.
    static func endpoint(_ address: UInt8, _ kind: UInt8, packet: UInt16, interval: UInt8) -> [UInt8] {
        [7, 5, address, kind] + word(packet) + [interval]
    }

    /// Encodes a HID 1.10 descriptor with one report descriptor of this many bytes.
    static func hid(reportDescriptor: Int) -> [UInt8] {
        [9, 0x21, 0x10, 0x01, 0, 1, 0x22] + word(UInt16(clamping: reportDescriptor))
    }

    /// Encodes a string descriptor in UTF-16.
    static func string(_ text: String) -> [UInt8] {
        let units = text.utf16.prefix(126).flatMap { word($0) }
        return [UInt8(2 + units.count), 3] + units
    }
}
