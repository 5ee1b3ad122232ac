// SPDX-License-Identifier: Apache-2.0

public import YKWire

extension Capture {
    /// One line of a capture after the header.
    public struct Event: Sendable, Hashable {
        /// What happened.
        public enum Kind: Sendable, Hashable {
            /// A command APDU as sent, and the response APDU as received.
            case exchange(command: [UInt8], reply: [UInt8])
            /// A report that the host wrote.
            case written([UInt8])
            /// A report that the device delivered.
            case delivered([UInt8])
            /// A feature report that the host set.
            case featureSet([UInt8])
            /// A feature report that the host got.
            case featureGot([UInt8])
            /// A request to a server, and its outcome.
            indirect case http(HTTPExchange)
            /// Something that happened to the link itself.
            case link(LinkEvent, why: String?)
        }

        /// An event of a link.
        public struct LinkEvent: OpenSet {
            /// The word in the file.
            public let rawValue: String
            /// Wraps a word.
            public init(rawValue: String) { self.rawValue = rawValue }
            /// The card was powered.
            public static let powerOn = LinkEvent(rawValue: "power-on")
            /// The card was powered off.
            public static let powerOff = LinkEvent(rawValue: "power-off")
            /// The card was reset.
            public static let reset = LinkEvent(rawValue: "reset")
            /// The card or key was removed.
            public static let removed = LinkEvent(rawValue: "removed")
            /// The host read the clock; written when the time is later than the previous event implies.
            public static let time = LinkEvent(rawValue: "time")
            /// The link failed.
            public static let fail = LinkEvent(rawValue: "fail")
        }

        /// A range of bytes: its start and length.
        public struct Mask: Sendable, Hashable {
            /// The index of the first byte.
            public let offset: Int
            /// The number of bytes.
            public let length: Int
        }

        /// What happened.
        public var kind: Kind
        /// Milliseconds since the first event, as the file has them.
        package var milliseconds: Double?
        /// The time since the first event. Times of more than 30,000 years, which only a broken file has, are clamped.
        public var time: Duration? {
            get { milliseconds.map { .milliseconds(min(max($0, -1e15), 1e15)) } }
            set { milliseconds = newValue.map { $0 / .milliseconds(1) } }
        }
        /// The secret ranges of the command or written report.
        public var commandMask: [Mask] = []
        /// The secret ranges of the reply or received report.
        public var replyMask: [Mask] = []
        /// The line in the file, the header being line 1; 0 for an event that was not read from a file.
        public var line = 0

        /// Creates an event.
        public init(_ kind: Kind, time: Duration? = nil) {
            self.kind = kind
            self.time = time
        }

        package init(_ kind: Kind, milliseconds: Double?) {
            self.kind = kind
            self.milliseconds = milliseconds
        }
    }
}

extension [UInt8] {
    /// The bytes with the masked ranges overwritten by zeros; ranges are clamped to the bounds.
    package func masked(_ masks: [Capture.Event.Mask]) -> [UInt8] {
        var bytes = self
        for mask in masks where mask.offset >= 0 && mask.offset < count && mask.length > 0 {
            let end = Swift.min(count, mask.end)
            for index in mask.offset..<Swift.max(mask.offset, end) { bytes[index] = 0 }
        }
        return bytes
    }
}

extension Capture.Event {
    /// The event as one line, without the line end.
    package var text: String {
        var object = JSONValue.Object()
        switch kind {
        case .exchange(let command, let reply):
            object["c"] = .string(Hex.encode(command))
            object["r"] = .string(Hex.encode(reply))
        case .written(let report): object["w"] = .string(Hex.encode(report))
        case .delivered(let report): object["d"] = .string(Hex.encode(report))
        case .featureSet(let report): object["sf"] = .string(Hex.encode(report))
        case .featureGot(let report): object["gf"] = .string(Hex.encode(report))
        case .http(let exchange): object["h"] = exchange.json
        case .link(let event, let why):
            object["e"] = .string(event.rawValue)
            object["why"] = why.map(JSONValue.string)
        }
        // Rounding would make an infinity of a huge time, which JSON cannot express.
        object["ms"] = milliseconds.map { .double($0.magnitude < 1e12 ? ($0 * 1000).rounded() / 1000 : $0) }
        if !commandMask.isEmpty { object["cm"] = Self.json(commandMask) }
        if !replyMask.isEmpty { object["rm"] = Self.json(replyMask) }
        return JSONValue.object(object).text
    }

    private static func json(_ masks: [Mask]) -> JSONValue {
        .array(masks.map { .array([.int(Int64($0.offset)), .int(Int64($0.length))]) })
    }

    /// Parses an event. Ignores unknown keys; throws if the line has none or several of the event keys.
    init(_ object: JSONValue.Object, line: Int) throws(CaptureError) {
        let present = ["c", "w", "d", "sf", "gf", "h", "e"].filter { object[$0] != nil }
        guard let key = present.first, present.count == 1 else {
            throw CaptureError(line: line, "expected exactly one of c, w, d, sf, gf, h, e")
        }
        switch key {
        case "c":
            let reply = try Self.hex(object, "r", line)
            kind = .exchange(command: try Self.hex(object, "c", line), reply: reply)
        case "w": kind = .written(try Self.hex(object, "w", line))
        case "d": kind = .delivered(try Self.hex(object, "d", line))
        case "sf": kind = .featureSet(try Self.hex(object, "sf", line))
        case "gf": kind = .featureGot(try Self.hex(object, "gf", line))
        case "h": kind = .http(try Capture.HTTPExchange(object["h"] ?? .null, line: line))
        default:
            guard let word = object["e"]?.string else { throw CaptureError(line: line, "\"e\" is not a string") }
            kind = .link(LinkEvent(rawValue: word), why: object["why"]?.string)
        }
        milliseconds = try Self.time(object, line)
        commandMask = try Self.masks(object, "cm", line)
        replyMask = try Self.masks(object, "rm", line)
        self.line = line
    }

    private static func time(_ object: JSONValue.Object, _ line: Int) throws(CaptureError) -> Double? {
        guard let value = object["ms"] else { return nil }
        guard let time = value.number else { throw CaptureError(line: line, "\"ms\" is not a number") }
        return time
    }

    static func hex(_ object: JSONValue.Object, _ key: String, _ line: Int) throws(CaptureError) -> [UInt8] {
        guard let text = object[key]?.string else { throw CaptureError(line: line, "\"\(key)\" is not a string") }
        return try lift({ (error: WireError) in CaptureError(line: line, "\"\(key)\": \(error)") }) {
            () throws(WireError) in try Hex.decode(text)
        }
    }

    private static func masks(_ object: JSONValue.Object, _ key: String, _ line: Int) throws(CaptureError) -> [Mask] {
        guard let list = object[key] else { return [] }
        guard let pairs = list.array else { throw CaptureError(line: line, "\"\(key)\" is not an array") }
        var masks: [Mask] = []
        for pair in pairs {
            guard let pair = pair.array, pair.count == 2, let offset = pair[0].int, let length = pair[1].int,
                (0...0x1FFFF).contains(offset), (0...0x1FFFF).contains(length)
            else { throw CaptureError(line: line, "\"\(key)\" holds something other than [offset, length]") }
            masks.append(Mask(offset: Int(offset), length: Int(length)))
        }
        return masks
    }
}
