// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

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
