// SPDX-License-Identifier: Apache-2.0

import YKVirtualKey
import YKWire

/// The device's side of USB/IP: bytes in, bytes out, without I/O or a clock.
struct USBIPDevice {
    /// The emulated device.
    var device: VirtualUSBDevice
    private var assembler = USBIPAssembler()
    private var pending: [USBIPMessage.Transfer] = []

    /// Linux's error code for a halted endpoint or a rejected request (EPIPE).
    private static let stalled: Int32 = -32
    /// The maximum number of pending transfers.
    private static let pendingLimit = 256

    init(_ device: VirtualUSBDevice) { self.device = device }

    /// Processes bytes of the stream and returns the answer. Throws if the stream is invalid.
    mutating func feed(_ bytes: [UInt8], at now: ContinuousClock.Instant) throws(WireError) -> [UInt8] {
        assembler.feed(bytes)
        var answers: [UInt8] = []
        while let message = try assembler.next() {
            switch message {
            case .submit(let transfer): answers += try submit(transfer, at: now)
            case .unlink(let sequence, let target):
                let index = pending.firstIndex { $0.sequence == target }
                if let index { pending.remove(at: index) }
                answers += USBIPMessage.unlinked(sequence, wasPending: index != nil)
            }
        }
        return answers + poll(at: now)
    }

    /// Performs work that is due and returns the bytes for the host.
    mutating func poll(at now: ContinuousClock.Instant) -> [UInt8] {
        for index in device.interfaces.indices { device.interfaces[index].poll(at: now) }
        var answers: [UInt8] = []
        var waiting: [USBIPMessage.Transfer] = []
        for transfer in pending {
            let address = transfer.endpoint | 0x80
            let limit = transfer.length
            if let index = interface(address), device.interfaces[index].isHalted(address) {
                answers += USBIPMessage.returned(transfer.sequence, status: Self.stalled, actual: 0)
            } else if let index = interface(address),
                let data = device.interfaces[index].next(endpoint: address, limit: limit, at: now)
            {
                answers += USBIPMessage.returned(transfer.sequence, status: 0, actual: data.count, data: data)
            } else {
                waiting.append(transfer)
            }
        }
        pending = waiting
        return answers
    }

    /// The time until work is due; `nil` if there is none until the host sends something.
    func pause(at now: ContinuousClock.Instant) -> Duration? {
        device.interfaces.compactMap { $0.pause(at: now) }.min()
    }

    /// How a fault removed the key.
    var absence: FaultPlan.Absence? { device.interfaces.lazy.compactMap(\.absence).first }

    private func interface(_ address: UInt8) -> Int? {
        device.interfaces.firstIndex { $0.endpoints.contains(address) }
    }

    private mutating func submit(
        _ transfer: USBIPMessage.Transfer, at now: ContinuousClock.Instant
    ) throws(WireError) -> [UInt8] {
        let stalled = USBIPMessage.returned(transfer.sequence, status: Self.stalled, actual: 0)
        if transfer.endpoint == 0 {
            guard let request = USBRequest(transfer.setup), let data = device.control(request, transfer.data) else {
                return stalled
            }
            let answer = Array(data.prefix(transfer.length))
            return transfer.isIn
                ? USBIPMessage.returned(transfer.sequence, status: 0, actual: answer.count, data: answer)
                : USBIPMessage.returned(transfer.sequence, status: 0, actual: transfer.data.count)
        }
        if transfer.isIn {
            guard interface(transfer.endpoint | 0x80) != nil else { return stalled }
            guard pending.count < Self.pendingLimit else {
                throw WireError(.tooLarge, at: 0, "more than \(Self.pendingLimit) transfers at once")
            }
            pending.append(transfer)
            return []
        }
        guard let index = interface(transfer.endpoint) else { return stalled }
        device.interfaces[index].receive(transfer.data, at: now)
        return USBIPMessage.returned(transfer.sequence, status: 0, actual: transfer.data.count)
    }
}
