// SPDX-License-Identifier: Apache-2.0

import CHidraw
import Glibc
import YKTransport
import YKWire

/// An open hidraw node.
final class HIDRawLink: ReportLink {
    /// The interval for checking deadline and cancellation while waiting for a report.
    private static let slice: Int32 = 20
    /// The number of reports to take from the kernel at once, and to keep at most.
    private static let burst = 64
    private static let backlogLimit = 1024

    let identity: ReportIdentity
    private let descriptor: HIDReportDescriptor
    private var node: Int32
    private var hold: UnfinishedWork.Hold? = .init()
    /// Whether the node is locked against other programs that lock it.
    private var isLocked = true
    /// Reports received before the first write.
    private var backlog: [[UInt8]] = []

    /// Takes ownership of an open non-blocking node.
    init(_ node: Int32, _ identity: ReportIdentity, _ descriptor: HIDReportDescriptor) {
        self.node = node
        self.identity = identity
        self.descriptor = descriptor
    }

    deinit { close() }

    func close() {
        guard node >= 0 else { return }
        _ = Glibc.close(node)
        node = -1
        hold = nil
    }

    func rest() {
        guard node >= 0 else { return }
        flock(node, LOCK_UN)
        isLocked = false
    }

    /// Locks the node again after a rest, and waits for another program that uses it.
    private func claim(_ deadline: Deadline) throws(LinkError) {
        guard !isLocked else { return }
        try Self.lock(node, identity.path, deadline)
        isLocked = true
    }

    func write(_ report: [UInt8], deadline: Deadline) throws(LinkError) {
        let frame = try framed(report, .output)
        try claim(deadline)
        try collect()
        while true {
            try deadline.check("the key to accept a report")
            let count = Glibc.write(node, frame, frame.count)
            if count == frame.count { return }
            guard count < 0 else { throw .failed(code: 0, "\(count) of \(frame.count) bytes of a report were written") }
            switch errno {
            case EINTR: continue
            case EAGAIN: try wait(for: POLLOUT, deadline, "the key to accept a report")
            case let number: throw failure(number, "writing a report")
            }
        }
    }

    func read(deadline: Deadline) throws(LinkError) -> [UInt8] {
        while true {
            try deadline.check("a report of the key")
            if !backlog.isEmpty { return backlog.removeFirst() }
            try wait(for: POLLIN, deadline, "a report of the key")
            if let report = try take() { return report }
        }
    }

    func setFeature(_ report: [UInt8], deadline: Deadline) throws(LinkError) {
        let frame = try framed(report, .feature)
        try claim(deadline)
        try deadline.check("the key to accept a feature report")
        guard ykit_hidraw_set_feature(node, frame, frame.count) >= 0 else {
            throw failure(errno, "setting a feature report")
        }
    }

    func feature(deadline: Deadline) throws(LinkError) -> [UInt8] {
        var frame = try framed([], .feature)
        try claim(deadline)
        try deadline.check("a feature report of the key")
        let count = ykit_hidraw_get_feature(node, &frame, frame.count)
        guard count >= 0 else { throw failure(errno, "getting a feature report") }
        guard count > 1, Int(count) <= frame.count else {
            throw .malformed(WireError(.truncated, at: Int(count), "a feature report of \(count) bytes"))
        }
        return Array(frame[1..<Int(count)])
    }

    /// The report prefixed with its number, 0 for unnumbered reports (hidraw.rst), and padded with zeros.
    private func framed(
        _ report: [UInt8], _ kind: HIDReportDescriptor.Kind
    ) throws(LinkError) -> [UInt8] {
        let length = descriptor.length(of: kind)
        guard report.count <= length else {
            let taken = kind == .feature ? "feature reports" : "reports"
            throw .failed(code: 0, "\(identity.path) accepts \(taken) of \(length) bytes, not of \(report.count)")
        }
        guard node >= 0 else { throw .removed }
        return [descriptor.number(of: kind)] + report + [UInt8](repeating: 0, count: length - report.count)
    }

    /// Takes all reports received so far. The kernel keeps 64 and drops later ones: other programs' reports would leave
    /// no room for the response to the next write.
    private func collect() throws(LinkError) {
        for _ in 0..<Self.burst {
            guard let report = try take() else { break }
            backlog.append(report)
        }
        backlog.removeFirst(max(0, backlog.count - Self.backlogLimit))
    }

    /// One report without its number; `nil` when there is none.
    private func take() throws(LinkError) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: descriptor.length(of: .input) + 2)
        let count = Glibc.read(node, &buffer, buffer.count)
        if count > 0 { return Array(buffer[..<count].dropFirst(descriptor.hasNumbers ? 1 : 0)) }
        if count == 0 { throw .removed }
        if errno == EAGAIN || errno == EINTR { return nil }
        throw failure(errno, "reading a report")
    }

    /// Waits briefly until the node is ready; unread reports take precedence over a removal.
    private func wait(for event: Int32, _ deadline: Deadline, _ doing: String) throws(LinkError) {
        guard node >= 0 else { throw .removed }
        var waiting = pollfd(fd: node, events: Int16(event), revents: 0)
        let ready = poll(&waiting, 1, deadline.milliseconds(limit: Self.slice))
        guard ready >= 0 || errno == EINTR else { throw failure(errno, "waiting for \(doing)") }
        if ready > 0, Int32(waiting.revents) & event == 0 { throw .removed }
    }

    /// The meaning of a failed call. An unplugged device fails in many ways before the kernel removes its node, so this
    /// waits a little for the removal.
    private func failure(_ number: Int32, _ doing: String) -> LinkError {
        if [ENODEV, ENXIO, ESHUTDOWN].contains(number) { return .removed }
        var waiting = pollfd(fd: node, events: 0, revents: 0)
        if poll(&waiting, 1, 200) > 0 { return .removed }
        if number == ETIMEDOUT { return .timedOut(doing) }
        return .failed(code: UInt32(bitPattern: number), "\(doing): \(String(cString: strerror(number)))")
    }
}
