// SPDX-License-Identifier: Apache-2.0

import YKVirtualKey

/// One interface of a USB device: what it says of itself, and what it does with transfers.
protocol USBInterface {
    /// Endpoint addresses; those of data from the device have the bit 80.
    var endpoints: [UInt8] { get }
    /// The interface descriptor and all that belongs to it, for an interface of this number.
    func descriptors(number: UInt8) -> [UInt8]
    /// Answers a control transfer; `nil` refuses it.
    mutating func control(_ request: USBRequest, _ data: [UInt8]) -> [UInt8]?
    /// Takes what came on an endpoint.
    mutating func receive(_ data: [UInt8], at now: ContinuousClock.Instant)
    /// What is ready to go to the host on an endpoint.
    mutating func next(endpoint: UInt8, at now: ContinuousClock.Instant) -> [UInt8]?
    /// The same for a transfer of so many bytes; what does not fit comes with the next.
    mutating func next(endpoint: UInt8, limit: Int, at now: ContinuousClock.Instant) -> [UInt8]?
    /// Does what time brings.
    mutating func poll(at now: ContinuousClock.Instant)
    /// How long nothing happens by itself; `nil` for as long as nothing comes.
    func pause(at now: ContinuousClock.Instant) -> Duration?
    /// How a fault took the key away.
    var absence: FaultPlan.Absence? { get }
    /// Whether an endpoint takes no transfers until the host clears that.
    func isHalted(_ endpoint: UInt8) -> Bool
    /// Makes an endpoint that halted usable again.
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

/// The setup of a control transfer (USB 2.0 §9.3).
struct USBRequest: Hashable, Sendable {
    /// Direction, type and recipient.
    var kind: UInt8
    /// What is asked for.
    var request: UInt8
    /// Its parameter.
    var value: UInt16
    /// The interface or endpoint.
    var index: UInt16
    /// How many bytes follow, or are wanted.
    var length: UInt16

    /// Reads the eight bytes, numbers with the least significant byte first.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == 8 else { return nil }
        kind = bytes[0]
        request = bytes[1]
        value = UInt16(bytes[2]) | UInt16(bytes[3]) << 8
        index = UInt16(bytes[4]) | UInt16(bytes[5]) << 8
        length = UInt16(bytes[6]) | UInt16(bytes[7]) << 8
    }

    /// Whether an interface is meant.
    var isForInterface: Bool { kind & 0x1F == 1 }
    /// Whether the request is of the interface's class.
    var isOfClass: Bool { kind & 0x60 == 0x20 }
}

/// Descriptors as bytes (USB 2.0 §9.6).
enum USBDescriptor {
    /// Numbers of two bytes with the least significant first.
    static func word(_ number: UInt16) -> [UInt8] { [UInt8(truncatingIfNeeded: number), UInt8(number >> 8)] }

    /// Interface: its number, how many endpoints, class, subclass, protocol, and the number of its name.
    static func interface(
        _ number: UInt8, endpoints: UInt8, _ kind: UInt8, _ subclass: UInt8 = 0, _ protocol: UInt8 = 0
    ) -> [UInt8] {
        [9, 4, number, 0, endpoints, kind, subclass, `protocol`, 0]
    }

    /// Endpoint: its address, kind of transfer (2 bulk, 3 interrupt), the longest packet, and the interval.
    static func endpoint(_ address: UInt8, _ kind: UInt8, packet: UInt16, interval: UInt8) -> [UInt8] {
        [7, 5, address, kind] + word(packet) + [interval]
    }

    /// HID 1.10, one report descriptor of this many bytes.
    static func hid(reportDescriptor: Int) -> [UInt8] {
        [9, 0x21, 0x10, 0x01, 0, 1, 0x22] + word(UInt16(clamping: reportDescriptor))
    }

    /// A text in UTF-16.
    static func string(_ text: String) -> [UInt8] {
        let units = text.utf16.prefix(126).flatMap { word($0) }
        return [UInt8(2 + units.count), 3] + units
    }
}
