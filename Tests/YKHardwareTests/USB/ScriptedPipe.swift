// SPDX-License-Identifier: Apache-2.0

import YKWire

@testable import YKTransport

/// A reader on the USB that does what a test says: each command is answered with steps.
final class ScriptedPipe: USBPipe {
    enum Step {
        case data([UInt8])
        case news([UInt8])
        case fail(USBFailure)
    }

    static let atr: [UInt8] = [
        0x3B, 0xFD, 0x13, 0x00, 0x00, 0x81, 0x31, 0xFE, 0x15, 0x80, 0x73, 0xC0, 0x21, 0xC0, 0x57, 0x59, 0x75, 0x62,
        0x69, 0x4B, 0x65, 0x79, 0x40,
    ]

    private let answer: (CCID.Command) -> [Step]
    private var queue: [Step] = []
    private var tidings: [[UInt8]]
    /// How the next sends fail, in order; `nil` for one that does not.
    var sendFailures: [USBFailure?] = []
    private(set) var sent: [CCID.Command] = []
    private(set) var cleared: [Bool] = []
    private(set) var requests: [UInt16] = []
    private(set) var limits: [Int] = []
    private(set) var isClosed = false
    let packetSize = 64

    init(news: [[UInt8]] = [], _ answer: @escaping (CCID.Command) -> [Step]) {
        tidings = news
        self.answer = answer
    }

    /// Power is answered with the answer to reset, everything else but transfers with success, transfers by `transfer`.
    static func card(_ transfer: @escaping (CCID.Command) -> [Step]) -> ScriptedPipe {
        ScriptedPipe { command in
            switch command.kind {
            case .powerOn: reply(.init(to: command, data: atr))
            case .transfer: transfer(command)
            default: reply(.init(to: command))
            }
        }
    }

    /// A message in packets of 64 bytes, as many to a transfer as a reader is asked for.
    static func reply(_ reply: CCID.Reply) -> [Step] { [.data(reply.encoded)] }

    /// Tells something before the next command.
    func tell(_ news: [UInt8]) { tidings.append(news) }

    func send(_ data: [UInt8], deadline: Deadline) throws(USBFailure) {
        if !sendFailures.isEmpty, let failure = sendFailures.removeFirst() { throw failure }
        guard let command = try? CCID.Command(decoding: data) else { throw .link(.failed(code: 0, "no command")) }
        sent.append(command)
        queue += answer(command)
    }

    func receive(_ limit: Int, deadline: Deadline) throws(USBFailure) -> USBArrival {
        limits.append(limit)
        if deadline.isCancelled { throw .link(.cancelled) }
        guard !queue.isEmpty else { throw .link(.timedOut("the reader's answer")) }
        switch queue.removeFirst() {
        case .data(let bytes):
            if bytes.count > limit { queue.insert(.data(Array(bytes[limit...])), at: 0) }
            return .data(Array(bytes.prefix(limit)))
        case .news(let bytes): return .news(bytes)
        case .fail(let failure): throw failure
        }
    }

    func news() throws(USBFailure) -> [UInt8]? { tidings.isEmpty ? nil : tidings.removeFirst() }

    func request(_ number: UInt8, value: UInt16, deadline: Deadline) throws(USBFailure) { requests.append(value) }
    func clearHalt(isIn: Bool) throws(USBFailure) { cleared.append(isIn) }
    func close() { isClosed = true }

    /// The link over it.
    func link(
        _ features: CCID.Descriptor.Features = [.extendedAPDU, .voltage], room: UInt32 = 271, voltages: UInt8 = 1,
        voltage: CCID.Voltage? = nil
    ) throws(LinkError) -> USBCardLink {
        let descriptor = CCID.Descriptor(voltages: voltages, features: features, maxMessageLength: room)
        let card = CCIDCard(CCIDSlot(self, descriptor), voltage: voltage)
        return try USBCardLink(card, reader: "A reader", deadline: .after(.seconds(5)))
    }
}
