// SPDX-License-Identifier: Apache-2.0

import CUSB
import Glibc

@testable import YKHardware

/// A libusb whose transfers end as a test says. The node is one end of a pipe: its other end is closed when the device is
/// pulled out. One thread uses it at a time.
final class FakeUSB: Sendable {
    enum Answer {
        /// The transfer is refused at once.
        case refused(libusb_error)
        /// It ends so; what is received, or how much is sent.
        case ends(libusb_transfer_status, [UInt8])
    }

    static let (output, input, interrupt) = (UInt8(2), UInt8(0x82), UInt8(0x83))

    /// What becomes of the transfers of an endpoint, in order; further ones end only when they are cancelled.
    nonisolated(unsafe) var answers: [UInt8: [Answer]] = [:]
    /// What comes back of a transfer that is cancelled; `nil` for one that does not end.
    nonisolated(unsafe) var remains: [UInt8]? = []
    /// The codes of the next calls, by name; 0 for further ones.
    nonisolated(unsafe) var codes: [String: [libusb_error]] = [:]
    /// Called for each transfer that was taken.
    nonisolated(unsafe) var onSubmit: @Sendable () -> Void = {}
    nonisolated(unsafe) private(set) var calls: [String] = []
    /// What was sent.
    nonisolated(unsafe) private(set) var sent: [[UInt8]] = []
    /// How many transfers were made and not freed.
    nonisolated(unsafe) private(set) var alive = 0
    let node: Int32
    nonisolated(unsafe) private var other: Int32
    nonisolated(unsafe) private var pending: [(transfer: USBLibrary.Transfer, answer: Answer?)] = []

    init() {
        var ends: [Int32] = [-1, -1]
        _ = pipe(&ends)
        (other, node) = (ends[0], ends[1])
    }

    deinit { unplug() }

    func unplug() {
        if other >= 0 { _ = Glibc.close(other) }
        other = -1
    }

    private func note(_ call: String) -> Int32 {
        calls.append(call)
        guard var codes = codes[call], !codes.isEmpty else { return 0 }
        defer { self.codes[call] = codes }
        return codes.removeFirst().rawValue
    }

    var library: USBLibrary {
        USBLibrary(
            makeContext: { [self] context in
                context = OpaquePointer(bitPattern: 1)
                return note("context")
            },
            releaseContext: { [self] _ in _ = note("exit") },
            wrap: { [self] _, _, handle in
                handle = OpaquePointer(bitPattern: 2)
                return note("wrap")
            },
            close: { [self] _ in _ = note("close") },
            detachDrivers: { [self] _ in note("detach") },
            claim: { [self] _, number in note("claim \(number)") },
            release: { [self] _, number in note("release \(number)") },
            clearHalt: { [self] _, endpoint in note("clear \(endpoint)") },
            request: { [self] _, request, value, number, _ in note("request \(request) \(value) \(number)") },
            makeTransfer: { [self] in
                alive += 1
                let transfer = USBLibrary.Transfer.allocate(capacity: 1)
                transfer.initialize(to: libusb_transfer())
                return transfer
            },
            freeTransfer: { [self] transfer in
                alive -= 1
                transfer.deallocate()
            },
            submit: { [self] in submit($0) }, cancel: { [self] in cancel($0) },
            handleEvents: { [self] in handle($1) })
    }

    private func submit(_ transfer: USBLibrary.Transfer) -> Int32 {
        let endpoint = transfer.pointee.endpoint
        let answer = answers[endpoint].flatMap { $0.first }
        if answer != nil { answers[endpoint]?.removeFirst() }
        if case .refused(let code)? = answer { return code.rawValue }
        if endpoint == Self.output {
            sent.append(Array(UnsafeBufferPointer(start: transfer.pointee.buffer, count: Int(transfer.pointee.length))))
        }
        pending.append((transfer, answer))
        onSubmit()
        return 0
    }

    private func cancel(_ transfer: USBLibrary.Transfer) -> Int32 {
        calls.append("cancel \(transfer.pointee.endpoint)")
        guard let remains, let index = pending.firstIndex(where: { $0.transfer == transfer }) else { return 0 }
        pending[index].answer = .ends(LIBUSB_TRANSFER_CANCELLED, remains)
        return 0
    }

    private func handle(_ milliseconds: Int32) -> Int32 {
        let code = note("events")
        let ended = pending.filter { $0.answer != nil }
        pending.removeAll { $0.answer != nil }
        for case (let transfer, .ends(let status, let data)?) in ended {
            let count = min(data.count, Int(transfer.pointee.length))
            if transfer.pointee.endpoint & 0x80 != 0 {
                for index in 0..<count { transfer.pointee.buffer[index] = data[index] }
            }
            transfer.pointee.status = status
            transfer.pointee.actual_length = Int32(count)
            transfer.pointee.callback(transfer)
        }
        if ended.isEmpty, milliseconds > 0 { usleep(1000) }
        return code
    }
}
