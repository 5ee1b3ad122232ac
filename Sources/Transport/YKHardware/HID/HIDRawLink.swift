// SPDX-License-Identifier: Apache-2.0

import CHidraw
import Glibc
public import YKTransport
import YKWire

/// Access to security keys through the kernel's hidraw nodes: FIDO authenticators of any vendor, and OTP keyboards.
public enum HIDRaw {
    /// Lists the attached FIDO authenticators and OTP keyboards, including those that this user may not open; nothing
    /// is sent to them.
    ///
    /// - Throws: `failed` when there is no sysfs.
    public static func devices() throws(LinkError) -> [HIDDevice] { try HIDMachine().keys() }

    /// Opens a node such as `/dev/hidraw0` and locks it against other programs that do the same (flock(2)); nothing is
    /// sent to the device. Waits until the deadline while another program holds the lock.
    ///
    /// - Throws: `noDevice`, `accessDenied`, `busy` with the programs that have it open, or `cancelled`.
    public static func open(_ path: String, deadline: Deadline) throws(LinkError) -> sending any ReportLink {
        try HIDRawLink.open(path, deadline)
    }

    /// Reports devices being attached and removed, starting with those already attached, until the stream is no longer
    /// read. With a running udev daemon a new device is reported after its rules have been applied.
    public static func watch() -> AsyncStream<HIDEvent> { HIDMachine(news: .here).watch() }

    /// The same on a thread of its own, for a process without tasks: Swift's pool wakes up once a second from the first
    /// task on.
    ///
    /// - Returns: What ends it; `nil` if the system has no descriptor or thread left.
    package static func follow(_ report: @escaping @Sendable (HIDEvent) -> Void) -> (@Sendable () -> Void)? {
        HIDMachine(news: .here).follow(report)
    }
}

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

    /// The polling interval for the lock.
    private static let lockInterval = Duration.milliseconds(10)

    /// Opens a node and locks it.
    static func open(_ path: String, _ deadline: Deadline) throws(LinkError) -> HIDRawLink {
        try deadline.check("the key to be opened")
        var node = opened(path)
        // A guard may have moved it since it was found, or given it back.
        if node < 0, errno == ENOENT, let other = TakenNodes.otherPath(of: path) { node = opened(other) }
        guard node >= 0 else { throw refusal(errno, path) }
        do throws(LinkError) {
            let (identity, descriptor) = try facts(node, path)
            try lock(node, path, deadline)
            return HIDRawLink(node, identity, descriptor)
        } catch {
            _ = Glibc.close(node)
            throw error
        }
    }

    private static func opened(_ path: String) -> Int32 {
        Glibc.open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    }

    private static func refusal(_ number: Int32, _ path: String) -> LinkError {
        switch number {
        case EACCES, EPERM: .accessDenied(.device(path: path))
        case ENOENT, ENODEV, ENXIO, ENOTDIR: .noDevice(path: path)
        case EBUSY: .busy(reader: path, holders: Processes.holders(of: path))
        default: .failed(code: UInt32(bitPattern: number), "opening \(path): \(String(cString: strerror(number)))")
        }
    }

    /// Reads the kernel's description of the device behind a node.
    private static func facts(
        _ node: Int32, _ path: String
    ) throws(LinkError) -> (ReportIdentity, HIDReportDescriptor) {
        var info = hidraw_devinfo()
        guard ykit_hidraw_info(node, &info) >= 0 else {
            throw errno == ENODEV || errno == EIO
                ? .noDevice(path: path) : .failed(code: UInt32(bitPattern: errno), "\(path) is not a hidraw node")
        }
        var size: Int32 = -1
        let bytes = [UInt8](unsafeUninitializedCapacity: HIDReportDescriptor.sizeLimit) { bytes, count in
            size = ykit_hidraw_descriptor(node, bytes.baseAddress, bytes.count)
            count = Int(max(0, size))
        }
        guard size >= 0 else { throw .noDevice(path: path) }
        let descriptor = try lift(LinkError.malformed) { () throws(WireError) in
            try HIDReportDescriptor(decoding: bytes)
        }
        let identity = ReportIdentity(
            path: path, name: name(node), vendor: UInt16(bitPattern: info.vendor),
            product: UInt16(bitPattern: info.product))
        return (identity, descriptor)
    }

    private static func name(_ node: Int32) -> String {
        var text = [CChar](repeating: 0, count: 256)
        guard ykit_hidraw_name(node, &text, text.count - 1) > 0 else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Takes the advisory lock with which hidraw programs exclude each other. A file system without locks is not an
    /// error.
    static func lock(_ node: Int32, _ path: String, _ deadline: Deadline) throws(LinkError) {
        while ykit_lock(node) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { return }
            if deadline.isCancelled { throw .cancelled }
            if deadline.isOver { throw .busy(reader: path, holders: Processes.holders(of: path)) }
            Pause.system(lockInterval, deadline)
        }
    }
}
