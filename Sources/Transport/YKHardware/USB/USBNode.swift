// SPDX-License-Identifier: Apache-2.0

import CUSB
import Glibc
import YKTransport
import YKWire

/// A USB card reader whose interface is claimed through libusb. Submitting a transfer and waiting for it are separate
/// steps, so that every wait ends at the deadline or on cancellation.
final class USBNode: USBPipe {
    /// How many milliseconds to wait before the deadline and the cancellation are checked again.
    private static let slice: Int32 = 20
    /// How many milliseconds a cancelled transfer may take to complete.
    private static let patience: Int32 = 1000

    private let endpoints: USBReaderEndpoints
    private let number: UInt8
    private let node: Int32
    private var hold: UnfinishedWork.Hold? = .init()
    /// `nil` once closed.
    private var handle: USBHandle?
    /// What was received, in order.
    private var arrived: [USBArrival] = []
    /// Why the last read failed.
    private var trouble: USBFailure?

    var packetSize: Int { endpoints.packetSize }

    /// Takes ownership of an open node and of the handle on it, whose interface is claimed.
    init(_ node: Int32, _ handle: USBHandle, interface number: UInt8, _ endpoints: USBReaderEndpoints) {
        self.node = node
        self.handle = handle
        self.number = number
        self.endpoints = endpoints
    }

    deinit { close() }

    func close() {
        guard let handle else { return }
        self.handle = nil
        handle.close(within: Self.patience)
        _ = Glibc.close(node)
        hold = nil
    }

    func send(_ data: [UInt8], deadline: Deadline) throws(USBFailure) {
        let doing = "the reader to accept a command"
        let handle = try opened(deadline, doing)
        try call { () throws(USBCode) in try handle.start(.output, endpoints.output, data, data.count) }
        // The deadline for a cancelled transfer to complete.
        var end: Deadline?
        while true {
            while let ended = handle.next() {
                guard ended.role == .output else {
                    note(ended)
                    continue
                }
                if ended.status == LIBUSB_TRANSFER_COMPLETED, ended.count == data.count { return }
                if end != nil { throw .link(deadline.isCancelled ? .cancelled : .timedOut(doing)) }
                guard ended.status == LIBUSB_TRANSFER_COMPLETED else { throw failure(ended.status) }
                throw .link(.unresponsive("the reader accepted only a part of a command"))
            }
            if let end, end.isOver { throw .link(deadline.isCancelled ? .cancelled : .timedOut(doing)) }
            if end == nil, deadline.isOver || deadline.isCancelled {
                end = .after(.milliseconds(Int64(Self.patience)))
                handle.cancel(.output)
            }
            try wait(handle, (end ?? deadline).milliseconds(limit: Self.slice))
        }
    }

    func receive(_ limit: Int, deadline: Deadline) throws(USBFailure) -> USBArrival {
        while true {
            if let handle { takeEnded(handle) }
            if !arrived.isEmpty { return arrived.removeFirst() }
            if let trouble {
                self.trouble = nil
                throw trouble
            }
            if let handle, deadline.isOver || deadline.isCancelled {
                handle.cancel(.input)
                let end = Deadline.after(.milliseconds(Int64(Self.patience)))
                while handle.has(.input), !end.isOver {
                    try wait(handle, Self.slice)
                    takeEnded(handle)
                }
                if !arrived.isEmpty { continue }
            }
            let handle = try opened(deadline, "the reader's answer")
            if !handle.has(.input) {
                try call { () throws(USBCode) in try handle.start(.input, endpoints.input, nil, limit) }
            }
            try listen(handle)
            try wait(handle, deadline.milliseconds(limit: Self.slice))
        }
    }

    func news() throws(USBFailure) -> [UInt8]? {
        if let handle {
            try listen(handle)
            try wait(handle, 0)
            takeEnded(handle)
        }
        let index = arrived.firstIndex { if case .news = $0 { true } else { false } }
        guard let index, case .news(let bytes) = arrived.remove(at: index) else { return nil }
        return bytes
    }

    func request(_ request: UInt8, value: UInt16, deadline: Deadline) throws(USBFailure) {
        let handle = try opened(deadline, "the reader to accept a request")
        let limit = deadline.milliseconds(limit: Self.patience)
        try call { () throws(USBCode) in
            try handle.request(request, value: value, interface: number, milliseconds: limit)
        }
    }

    func clearHalt(isIn: Bool) throws(USBFailure) {
        guard let handle else { throw .link(.removed) }
        try call { () throws(USBCode) in try handle.clearHalt(isIn ? endpoints.input : endpoints.output) }
    }

    // MARK: transfers

    private func opened(_ deadline: Deadline, _ doing: String) throws(USBFailure) -> USBHandle {
        guard let handle else { throw .link(.removed) }
        try lift(USBFailure.link) { () throws(LinkError) in try deadline.check(doing) }
        return handle
    }

    /// Starts listening for slot change messages if the reader has an interrupt endpoint.
    private func listen(_ handle: USBHandle) throws(USBFailure) {
        guard !handle.has(.interrupt), let endpoint = endpoints.interrupt else { return }
        try call { () throws(USBCode) in try handle.start(.interrupt, endpoint, nil, endpoints.newsSize) }
    }

    private func wait(_ handle: USBHandle, _ milliseconds: Int32) throws(USBFailure) {
        try call { () throws(USBCode) in try handle.wait(milliseconds) }
    }

    private func takeEnded(_ handle: USBHandle) {
        while let ended = handle.next() { note(ended) }
    }

    /// Stores the data of a completed transfer, or its failure.
    private func note(_ ended: USBHandle.Ended) {
        let isCancelled = ended.status == LIBUSB_TRANSFER_CANCELLED
        let isDone = ended.status == LIBUSB_TRANSFER_COMPLETED
        switch ended.role {
        case .input where isDone || isCancelled && ended.count > 0: arrived.append(.data(ended.data))
        case .input where !isCancelled: trouble = failure(ended.status)
        case .interrupt where isDone: arrived.append(.news(ended.data))
        default: break
        }
    }

    // MARK: failures

    private func call(_ body: () throws(USBCode) -> Void) throws(USBFailure) {
        do { try body() } catch {
            switch libusb_error(rawValue: error.rawValue) {
            case LIBUSB_ERROR_NO_DEVICE: throw .link(.removed)
            case LIBUSB_ERROR_PIPE: throw .stalled
            case LIBUSB_ERROR_TIMEOUT: throw .link(.timedOut("a USB transfer"))
            case _ where isGone: throw .link(.removed)
            default: throw .link(.failed(code: 0, "a libusb call failed with \(error.rawValue)"))
            }
        }
    }

    /// The failure that a transfer status stands for.
    private func failure(_ status: libusb_transfer_status) -> USBFailure {
        switch status {
        case LIBUSB_TRANSFER_NO_DEVICE: .link(.removed)
        case LIBUSB_TRANSFER_STALL: .stalled
        case _ where isGone: .link(.removed)
        case LIBUSB_TRANSFER_OVERFLOW: .link(.unresponsive("the reader sent more than was requested"))
        default: .link(.failed(code: 0, "a USB transfer failed"))
        }
    }

    /// Whether the device has been unplugged. Transfers to an unplugged device fail in many ways before the kernel
    /// removes its node, so this waits briefly for the removal.
    private var isGone: Bool {
        var waiting = pollfd(fd: node, events: 0, revents: 0)
        return poll(&waiting, 1, 200) > 0
    }

    /// The interval between attempts to claim the reader, and how long to retry while a program other than ykit has it.
    private static let claimInterval = Duration.milliseconds(10)
    private static let claimPatience = Duration.seconds(2)

    /// Opens the node of a device and claims its card reader.
    static func open(
        _ device: USBDevice, _ deadline: Deadline, library: USBLibrary? = .system
    ) throws(LinkError) -> (USBNode, CCID.Descriptor) {
        try deadline.check("the reader to be opened")
        guard let interface = device.reader?.descriptor, let endpoints = USBReaderEndpoints(interface) else {
            throw .noDevice(path: device.node)
        }
        guard let descriptor = interface.reader else {
            throw .malformed(WireError(.missing, at: 0, "the reader does not describe itself"))
        }
        guard let library else { throw .usbLibraryNotInstalled }
        let node = Glibc.open(device.node, O_RDWR | O_CLOEXEC)
        guard node >= 0 else { throw refusal(errno, device) }
        do throws(LinkError) {
            let handle = try lift({ refusal($0, device) }) { () throws(USBCode) in
                try USBHandle(node, library: library)
            }
            do throws(LinkError) { try claim(handle, interface.number, device, deadline) } catch {
                handle.close(within: 0)
                throw error
            }
            return (USBNode(node, handle, interface: interface.number, endpoints), descriptor)
        } catch {
            _ = Glibc.close(node)
            throw error
        }
    }

    private static func claim(
        _ handle: USBHandle, _ number: UInt8, _ device: USBDevice, _ deadline: Deadline
    ) throws(LinkError) {
        var patience: Deadline?
        while true {
            do throws(USBCode) { return try handle.claim(number) } catch {
                guard error == USBCode(LIBUSB_ERROR_BUSY) else { throw refusal(error, device) }
            }
            if deadline.isCancelled { throw .cancelled }
            let limit = patience ?? .after(claimPatience)
            patience = limit
            // Read again: the device may have been replugged since the devices were listed.
            let holders = DirectUSB.holders(
                of: USBDevice(folder: device.sysPath, devices: devices(of: device)) ?? device)
            let isOurs = !holders.isEmpty && holders.allSatisfy { $0.name == "ykit" }
            let isForGood = holders.contains { $0.name == "pcscd" }
            if isForGood || deadline.isOver || limit.isOver && !isOurs {
                throw .busy(reader: device.readerName, holders: holders)
            }
            Pause.system(claimInterval, deadline)
        }
    }

    /// The root of the device nodes: the part of the path before `bus/usb/001/004`.
    private static func devices(of device: USBDevice) -> String {
        "/" + device.node.split(separator: "/").dropLast(4).joined(separator: "/")
    }

    private static func refusal(_ number: Int32, _ device: USBDevice) -> LinkError {
        switch number {
        case EACCES, EPERM: .accessDenied(.device(path: device.node))
        case ENOENT, ENODEV, ENXIO: .noDevice(path: device.node)
        case EBUSY: .busy(reader: device.readerName, holders: DirectUSB.holders(of: device))
        default:
            .failed(
                code: UInt32(bitPattern: number), "opening \(device.node): \(String(cString: strerror(number)))")
        }
    }

    private static func refusal(_ code: USBCode, _ device: USBDevice) -> LinkError {
        switch libusb_error(rawValue: code.rawValue) {
        case LIBUSB_ERROR_ACCESS: .accessDenied(.device(path: device.node))
        case LIBUSB_ERROR_NO_DEVICE, LIBUSB_ERROR_NOT_FOUND: .noDevice(path: device.node)
        case LIBUSB_ERROR_BUSY: .busy(reader: device.readerName, holders: DirectUSB.holders(of: device))
        default: .failed(code: 0, "opening \(device.node): libusb failed with \(code.rawValue)")
        }
    }
}
