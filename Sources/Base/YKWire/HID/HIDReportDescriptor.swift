// SPDX-License-Identifier: Apache-2.0

/// A report descriptor (Device Class Definition for HID 1.11 §6.2.2): what a HID device is for, and how long its
/// reports are.
public struct HIDReportDescriptor: Hashable, Sendable {
    /// The three kinds of reports (HID 1.11 §6.2.2.5).
    public enum Kind: Hashable, Sendable {
        /// From the device.
        case input
        /// To the device.
        case output
        /// Read and written over the control endpoint.
        case feature
    }

    /// One report: its kind, and its number if the device numbers its reports.
    public struct Report: Hashable, Sendable {
        /// The kind.
        public var kind: Kind
        /// The report number; 0 for unnumbered reports.
        public var number: UInt8

        /// Creates a report.
        public init(_ kind: Kind, number: UInt8 = 0) {
            self.kind = kind
            self.number = number
        }
    }

    /// The usages of the top-level collections, in the order of the descriptor.
    public internal(set) var usages: [HIDUsage] = []
    /// The length of each report in bits, without its number.
    private var lengths: [Length] = []
    private struct Length: Hashable {
        let report: Report
        var bits: Int
    }

    /// The length of a report in bits.
    subscript(report: Report) -> Int {
        get { lengths.first { $0.report == report }?.bits ?? 0 }
        set {
            if let index = lengths.firstIndex(where: { $0.report == report }) {
                lengths[index].bits = newValue
            } else {
                lengths.append(Length(report: report, bits: newValue))
            }
        }
    }

    /// Whether every report is prefixed with its number.
    public internal(set) var hasNumbers = false

    /// Whether this is a FIDO authenticator.
    public var isFIDO: Bool { usages.contains(.fido) }

    /// Whether this is a keyboard with an 8-byte feature report, the interface of a YubiKey's OTP application.
    public var isOTPKeyboard: Bool { usages.contains(.keyboard) && length(of: .feature) == 8 }

    /// The length in bytes, without its number, of the longest report of a kind; 0 when there is none.
    public func length(of kind: Kind) -> Int {
        lengths.reduce(0) { $1.report.kind == kind ? max($0, ($1.bits + 7) / 8) : $0 }
    }

    /// The lowest report number of a kind; 0 for unnumbered reports.
    public func number(of kind: Kind) -> UInt8 {
        lengths.reduce(nil) { $1.report.kind == kind ? min($0 ?? .max, $1.report.number) : $0 } ?? 0
    }
}

extension HIDReportDescriptor {
    /// The maximum size of a descriptor that the Linux kernel returns, in bytes (HID_MAX_DESCRIPTOR_SIZE).
    public static let sizeLimit = 4096
    /// The maximum size of a report that the Linux kernel accepts, in bytes (HID_MAX_BUFFER_SIZE).
    static let reportLimit = 16384
    /// The maximum nesting of collections, and of pushes of the global state.
    static let depthLimit = 64

    /// Decodes a descriptor item by item.
    ///
    /// - Throws: `WireError` for a truncated item, unbalanced collections, reports longer than 16384 bytes, and more
    /// than 64 levels.
    public init(decoding bytes: [UInt8]) throws(WireError) {
        guard bytes.count <= Self.sizeLimit else {
            throw WireError(.tooLarge, at: 0, "a descriptor of \(bytes.count) bytes, at most \(Self.sizeLimit)")
        }
        var parser = Parser()
        var reader = ByteReader(bytes)
        while !reader.isAtEnd {
            let place = reader.offset
            let prefix = try reader.byte()
            if prefix == 0xFE {  // A long item (§6.2.2.3); no tag of one is defined.
                let length = try reader.byte("the length of a long item")
                _ = try reader.byte("the tag of a long item")
                _ = try reader.bytes(Int(length), "a long item")
                continue
            }
            let size = prefix & 3 == 3 ? 4 : Int(prefix & 3)
            let data = UInt32(truncatingIfNeeded: try reader.littleEndian(size, "an item"))
            try parser.take(Item(tag: prefix & 0xFC, data: data, isLong: size == 4, place: place))
        }
        guard parser.depth == 0 else {
            throw WireError(.truncated, at: bytes.count, "\(parser.depth) collections are not closed")
        }
        self = parser.descriptor
    }

    /// A short item (§6.2.2.2): tag and type as in the prefix, without the size.
    private struct Item {
        let tag: UInt8
        let data: UInt32
        let isLong: Bool
        let place: Int
    }

    /// The relevant global items (§6.2.2.7).
    private struct Globals {
        var page: UInt16 = 0
        var size: UInt32 = 0
        var count: UInt32 = 0
        var number: UInt8 = 0
    }

    private struct Parser {
        var descriptor = HIDReportDescriptor()
        var depth = 0
        private var globals = Globals()
        private var stack: [Globals] = []
        /// The first usage since the last main item, and whether it had a page of its own.
        private var usage: UInt32?
        private var isExtended = false

        mutating func take(_ item: Item) throws(WireError) {
            switch item.tag {
            case 0x80: try add(.input, item)
            case 0x90: try add(.output, item)
            case 0xB0: try add(.feature, item)
            case 0xA0: try open(item)
            case 0xC0: try close(item)
            case 0x04: globals.page = UInt16(truncatingIfNeeded: item.data)
            case 0x74: globals.size = item.data
            case 0x94: globals.count = item.data
            case 0x84: try setNumber(item)
            case 0xA4: try push(item)
            case 0xB4: try pop(item)
            case 0x08 where usage == nil: (usage, isExtended) = (item.data, item.isLong)
            default: break
            }
        }

        private mutating func open(_ item: Item) throws(WireError) {
            guard depth < HIDReportDescriptor.depthLimit else {
                throw WireError(.tooDeep, at: item.place, "collections nested more than \(depth) deep")
            }
            if depth == 0, let usage {
                let page = isExtended ? UInt16(truncatingIfNeeded: usage >> 16) : globals.page
                descriptor.usages.append(HIDUsage(page: page, id: UInt16(truncatingIfNeeded: usage)))
            }
            depth += 1
            usage = nil
        }

        private mutating func close(_ item: Item) throws(WireError) {
            guard depth > 0 else { throw WireError(.malformed, at: item.place, "END COLLECTION without COLLECTION") }
            depth -= 1
            usage = nil
        }

        private mutating func add(_ kind: Kind, _ item: Item) throws(WireError) {
            usage = nil
            let limit = 8 * HIDReportDescriptor.reportLimit
            let report = Report(kind, number: globals.number)
            let (more, isTooMuch) = globals.size.multipliedReportingOverflow(by: globals.count)
            let bits = descriptor[report] + (isTooMuch ? limit + 1 : Int(more))
            guard bits <= limit else {
                throw WireError(.tooLarge, at: item.place, "a report of more than \(limit / 8) bytes")
            }
            descriptor[report] = bits
        }

        private mutating func setNumber(_ item: Item) throws(WireError) {
            guard (1...255).contains(item.data) else {
                throw WireError(.malformed, at: item.place, "report number \(item.data)")
            }
            globals.number = UInt8(truncatingIfNeeded: item.data)
            descriptor.hasNumbers = true
        }

        private mutating func push(_ item: Item) throws(WireError) {
            guard stack.count < HIDReportDescriptor.depthLimit else {
                throw WireError(.tooDeep, at: item.place, "more than \(stack.count) PUSH items")
            }
            stack.append(globals)
        }

        private mutating func pop(_ item: Item) throws(WireError) {
            guard let last = stack.popLast() else {
                throw WireError(.malformed, at: item.place, "POP without PUSH")
            }
            globals = last
        }
    }
}

/// The purpose of a HID device: a page of the HID Usage Tables and a usage on it.
public struct HIDUsage: Hashable, Sendable, CustomStringConvertible {
    /// The usage page.
    public var page: UInt16
    /// The usage on the page.
    public var id: UInt16

    /// Creates a usage.
    public init(page: UInt16, id: UInt16) {
        self.page = page
        self.id = id
    }

    /// A FIDO authenticator (CTAP 2.2 §11.2.8.2, usage page F1D0).
    public static let fido = HIDUsage(page: 0xF1D0, id: 1)
    /// A keyboard (HID Usage Tables §10).
    public static let keyboard = HIDUsage(page: 1, id: 6)

    /// Page and usage as four hexadecimal digits each.
    public var description: String { Hex.encode([page, id].flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }) }
}
