// SPDX-License-Identifier: Apache-2.0

import CHidraw
import Glibc
import YKTransport
import YKWire

extension HIDRawLink {
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
