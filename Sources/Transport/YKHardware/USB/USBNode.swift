// SPDX-License-Identifier: Apache-2.0

import CUSB
import Glibc
import YKTransport
import YKWire

/// A node of /dev/bus/usb that is open, with one interface claimed: transfers are begun and waited for apart, so that a
/// deadline or a cancellation ends every wait.
final class USBNode: USBPipe {
    /// How long a wait lasts before the deadline and the cancellation are looked at again.
    private static let slice: Int32 = 20
    /// How many milliseconds a transfer that was called off may take to end.
    private static let patience: Int32 = 1000

    private let endpoints: USBReaderEndpoints
    private let number: UInt8
    private var node: Int32
    private var transfers: USBTransfers
    /// What came, in the order in which it did.
    private var arrived: [USBArrival] = []
    /// How the last read failed.
    private var trouble: USBFailure?

    var packetSize: Int { endpoints.packetSize }

    /// Takes over an open node on which the interface is claimed.
    init(_ node: Int32, interface number: UInt8, _ endpoints: USBReaderEndpoints) {
        self.node = node
        self.number = number
        self.endpoints = endpoints
        transfers = USBTransfers(node)
    }

    deinit { close() }

    func close() {
        guard node >= 0 else { return }
        transfers.discardAll()
        let end = Deadline.after(.milliseconds(Int64(Self.patience)))
        while !transfers.isEmpty, !end.isOver, transfers.next() != nil || pause(Self.slice) {}
        _ = ykit_usb_release(node, UInt32(number))
        _ = Glibc.close(node)
        node = -1
        transfers.forget()
    }

    func send(_ data: [UInt8], deadline: Deadline) throws(USBFailure) {
        let doing = "the reader to take a command"
        try check(deadline, doing)
        try start(.output, endpoints.output, data, data.count)
        var isCalledOff = false
        while true {
            while let ended = transfers.next() {
                guard ended.role == .output else {
                    note(ended)
                    continue
                }
                if ended.status == 0, ended.count == data.count { return }
                if isCalledOff { throw .link(deadline.isCancelled ? .cancelled : .timedOut(doing)) }
                guard ended.status == 0 else { throw failure(ended.status) }
                throw .link(.unresponsive("the reader took only a part of a command"))
            }
            if !isCalledOff, deadline.isOver || deadline.isCancelled {
                isCalledOff = true
                transfers.discard(.output)
            }
            try wait(isCalledOff ? Self.patience : deadline.milliseconds(limit: Self.slice))
        }
    }

    func receive(_ limit: Int, deadline: Deadline) throws(USBFailure) -> USBArrival {
        while true {
            while let ended = transfers.next() { note(ended) }
            if !arrived.isEmpty { return arrived.removeFirst() }
            if let trouble {
                self.trouble = nil
                throw trouble
            }
            if deadline.isOver || deadline.isCancelled {
                transfers.discard(.input)
                let end = Deadline.after(.milliseconds(Int64(Self.patience)))
                while transfers.has(.input), !end.isOver {
                    if let ended = transfers.next() { note(ended) } else { try wait(Self.slice) }
                }
                if !arrived.isEmpty { continue }
            }
            try check(deadline, "the reader's answer")
            if !transfers.has(.input) { try start(.input, endpoints.input, nil, limit) }
            try listen()
            try wait(deadline.milliseconds(limit: Self.slice))
        }
    }

    func news() throws(USBFailure) -> [UInt8]? {
        try listen()
        while let ended = transfers.next() { note(ended) }
        let index = arrived.firstIndex { if case .news = $0 { true } else { false } }
        guard let index, case .news(let bytes) = arrived.remove(at: index) else { return nil }
        return bytes
    }

    func request(_ request: UInt8, value: UInt16, deadline: Deadline) throws(USBFailure) {
        try check(deadline, "the reader to take a request")
        let limit = UInt32(max(1, deadline.milliseconds(limit: Self.patience)))
        guard ykit_usb_control(node, 0x21, request, value, UInt16(number), limit) >= 0 else { throw failure(errno) }
    }

    func clearHalt(isIn: Bool) throws(USBFailure) {
        let endpoint = isIn ? endpoints.input : endpoints.output
        guard ykit_usb_clear_halt(node, UInt32(endpoint)) >= 0 else { throw failure(errno) }
    }

    // MARK: transfers

    private func check(_ deadline: Deadline, _ doing: String) throws(USBFailure) {
        guard node >= 0 else { throw .link(.removed) }
        try lift(USBFailure.link) { () throws(LinkError) in try deadline.check(doing) }
    }

    private func start(
        _ role: USBTransfers.Role, _ endpoint: UInt8, _ data: [UInt8]?, _ size: Int
    ) throws(USBFailure) {
        guard transfers.start(role, endpoint, data, size) else { throw failure(errno) }
    }

    /// Begins to wait for news, where the reader has an endpoint for it.
    private func listen() throws(USBFailure) {
        guard !transfers.has(.interrupt), let endpoint = endpoints.interrupt else { return }
        try start(.interrupt, endpoint, nil, endpoints.newsSize)
    }

    /// Keeps what came, or how it failed.
    private func note(_ ended: USBTransfers.Ended) {
        let isCalledOff = ended.status == ENOENT || ended.status == ECONNRESET
        switch ended.role {
        case .input where ended.status == 0 || isCalledOff && ended.count > 0: arrived.append(.data(ended.data))
        case .input where !isCalledOff: trouble = failure(ended.status)
        case .interrupt where ended.status == 0: arrived.append(.news(ended.data))
        default: break
        }
    }

    /// Waits until a transfer may have ended.
    private func wait(_ milliseconds: Int32) throws(USBFailure) {
        guard pause(milliseconds) else { throw .link(.removed) }
    }

    /// Waits until a transfer may have ended; false when the device is gone.
    private func pause(_ milliseconds: Int32) -> Bool {
        var waiting = pollfd(fd: node, events: Int16(POLLOUT), revents: 0)
        guard poll(&waiting, 1, milliseconds) > 0 else { return true }
        return Int32(waiting.revents) & (POLLERR | POLLHUP | POLLNVAL) == 0
    }

    /// What an error number means. A device that is pulled out fails in many ways before the kernel takes it away, so
    /// that is waited for a little.
    private func failure(_ number: Int32) -> USBFailure {
        switch number {
        case ENODEV, ESHUTDOWN, ENXIO: return .link(.removed)
        case EPIPE: return .stalled
        default: break
        }
        var waiting = pollfd(fd: node, events: 0, revents: 0)
        if poll(&waiting, 1, 200) > 0 { return .link(.removed) }
        switch number {
        case ETIMEDOUT: return .link(.timedOut("a transfer on the USB"))
        case EOVERFLOW: return .link(.unresponsive("the reader sent more than was asked for"))
        default:
            let words = String(cString: strerror(number))
            return .link(.failed(code: UInt32(bitPattern: number), "a transfer on the USB: \(words)"))
        }
    }
}
