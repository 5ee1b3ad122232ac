// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Sorts CTAPHID reports by channel, for logs that do not name the device. An INIT belongs to the channel that its
/// reply allocates.
struct HIDChannels {
    /// INIT reports without a reply yet, by nonce.
    private var asked: [[UInt8]: (report: Capture.Event.Kind, milliseconds: Double?)] = [:]

    /// Adds a report of at least 64 bytes to the session of its channel.
    mutating func take(
        _ report: Capture.Event.Kind, _ bytes: [UInt8], _ milliseconds: Double?, _ book: inout SessionBook
    ) {
        guard bytes.starts(with: CTAPHID.Channel.broadcast.bytes) else {
            return book.report(Self.label(bytes.prefix(4)), report, milliseconds: milliseconds)
        }
        guard bytes.count >= 24, bytes[4] == 0x80 | CTAPHID.Command.initialize.rawValue else { return }
        let nonce = Array(bytes[7..<15])
        if case .written = report {
            if asked.count > 256 { asked = [:] }
            asked[nonce] = (report, milliseconds)
        } else if let question = asked.removeValue(forKey: nonce) {
            let label = Self.label(bytes[15..<19])
            book.report(label, question.report, milliseconds: question.milliseconds)
            book.report(label, report, milliseconds: milliseconds)
        }
    }

    private static func label(_ channel: ArraySlice<UInt8>) -> String { "channel \(Hex.encode(channel))" }
}
