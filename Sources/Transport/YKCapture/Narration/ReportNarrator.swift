// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKWire

/// Describes HID reports: CTAPHID frames (CTAP 2.1 §11.2) and, with ``FeatureNarrator``, OTP feature reports.
struct ReportNarrator: Sendable {
    /// A message split into frames.
    private struct Message {
        var command: UInt8
        var total: Int
        var data: MaskedBytes

        var isComplete: Bool { data.count >= total }
    }

    private var outgoing: [[UInt8]: Message] = [:]
    private var incoming: [[UInt8]: Message] = [:]
    private var requests: [[UInt8]: MaskedBytes] = [:]
    private var slots = FeatureNarrator()

    mutating func written(_ report: MaskedBytes) -> Narration { ctap(report, isRequest: true) }
    mutating func delivered(_ report: MaskedBytes) -> Narration { ctap(report, isRequest: false) }
    mutating func featureSet(_ report: MaskedBytes) -> Narration { slots.set(report) }
    mutating func featureGot(_ report: MaskedBytes) -> Narration { slots.got(report) }

    private mutating func ctap(_ report: MaskedBytes, isRequest: Bool) -> Narration {
        let direction = isRequest ? "to the key" : "from the key"
        guard report.count >= 7 else {
            return Narration("report of \(report.count) bytes \(direction)", details: [report.hex], isKnown: false)
        }
        let channel = Array(report.bytes[..<4])
        let place = channel == [255, 255, 255, 255] ? "broadcast" : "channel \(Hex.encode(channel))"
        var messages = isRequest ? outgoing : incoming
        defer { if isRequest { outgoing = messages } else { incoming = messages } }
        guard report[4] & 0x80 != 0 else {
            return continuation(report, channel, "\(place), \(direction)", isRequest, &messages)
        }
        let total = Int(report[5]) << 8 | Int(report[6])
        let message = Message(
            command: report[4] & 0x7F, total: total, data: report[7..<(7 + min(total, report.count - 7))])
        if messages.count > 64 { messages = [:] }
        messages[channel] = message.isComplete ? nil : message
        let name = Self.commands[message.command]
        let title = "CTAPHID \(name ?? Hex.encode([message.command])), \(place), \(direction)"
        if !message.isComplete {
            return Narration("\(title): first \(message.data.count) of \(total) bytes", isKnown: name != nil)
        }
        let details = whole(message, channel, isRequest)
        return Narration("\(title): \(total) bytes", details: details, isKnown: name != nil)
    }

    private mutating func continuation(
        _ report: MaskedBytes, _ channel: [UInt8], _ place: String, _ isRequest: Bool,
        _ messages: inout [[UInt8]: Message]
    ) -> Narration {
        let title = "CTAPHID continuation \(report[4]), \(place)"
        guard var message = messages[channel] else {
            return Narration("\(title): of an unknown message", details: [report.hex(limit: 64)])
        }
        message.data =
            message.data + report[5..<(5 + max(0, min(message.total - message.data.count, report.count - 5)))]
        messages[channel] = message.isComplete ? nil : message
        let count = "\(message.data.count) of \(message.total) bytes"
        return Narration("\(title): \(count)", details: message.isComplete ? whole(message, channel, isRequest) : [])
    }

    private mutating func whole(_ message: Message, _ channel: [UInt8], _ isRequest: Bool) -> [String] {
        let data = message.data
        switch (CTAPHID.Command(rawValue: message.command), isRequest) {
        case (.cbor, true):
            requests[channel] = data
            let (name, lines) = CTAPNarration.request(data)
            return [name] + lines
        case (.cbor, false): return CTAPNarration.reply(data, to: requests[channel] ?? MaskedBytes([]))
        case (.msg, true):
            guard let command = try? APDU(decoding: data.bytes) else { return ["message \(data.hex)"] }
            let start = APDU.dataOffset(data.bytes)
            let narrated = NarratedCommand(command, data: data[start..<(start + command.data.count)])
            requests[channel] = data
            return FIDONarration.phrase(narrated).map { [$0.0] + $0.1 } ?? ["message \(data.hex)"]
        case (.msg, false): return u2fReply(data, requests[channel])
        case (.initialize, false): return initialisation(data)
        case (.keepalive, _): return [[1: "processing", 2: "waiting for a touch"][data[0]] ?? "status \(data.hex)"]
        case (.error, _): return ["error \(CTAPNames.status(data[0]))"]
        case (.init(rawValue: FIDOProtocol.Vendor.readConfig), false),
            (.init(rawValue: FIDOProtocol.Vendor.writeConfig), true):
            return ManagementNarration.configuration(data)
        default: return data.isEmpty ? [] : ["data \(data.hex)"]
        }
    }

    private func u2fReply(_ data: MaskedBytes, _ request: MaskedBytes?) -> [String] {
        guard let status = StatusWord(decoding: data) else { return ["message \(data.hex)"] }
        let body = data.prefix(data.count - 2)
        guard let request, let command = try? APDU(decoding: request.bytes) else {
            return ["status \(status)"] + (body.isEmpty ? [] : ["reply \(body.hex)"])
        }
        let narrated = NarratedCommand(command, data: request.dropFirst(APDU.dataOffset(request.bytes)))
        let words = FIDOProtocol.meaning(of: status, for: narrated.apdu).map { "\(status.hex) (\($0))" } ?? status.words
        return ["status \(words)"] + (FIDONarration.reply(body, to: narrated) ?? [])
    }

    /// Describes the reply to INIT: nonce (8 bytes), channel (4), protocol, device version (3), capabilities.
    private func initialisation(_ data: MaskedBytes) -> [String] {
        guard data.count >= 17 else { return ["data \(data.hex)"] }
        let all: [(UInt8, String)] = [(0x01, "WINK"), (0x02, "LOCK"), (0x04, "CBOR"), (0x08, "no U2F")]
        let capabilities = all.filter { data[16] & $0.0 != 0 }.map(\.1).joined(separator: ", ")
        return [
            "nonce \(data[0..<8].hex)", "channel \(data[8..<12].hex)", "protocol \(data[12])",
            "device version \(OATHNarration.version(data[13..<16]))",
            "capabilities \(Hex.encode([data[16]])) (\(capabilities))",
        ]
    }

    private static let commands: [UInt8: String] = [
        0x01: "PING", 0x03: "MSG", 0x04: "LOCK", 0x06: "INIT", 0x08: "WINK", 0x10: "CBOR", 0x11: "CANCEL",
        0x3B: "KEEPALIVE", 0x3F: "ERROR", 0x40: "device config", 0x42: "read config", 0x43: "write config",
    ]
}
