// SPDX-License-Identifier: Apache-2.0

import CUSB
import Glibc

/// A device opened with libusb and its pending transfers: at most one per endpoint.
final class USBHandle {
    /// The endpoint of a transfer.
    enum Role: Hashable, Sendable {
        case output, input, interrupt
    }

    /// A completed transfer.
    struct Ended {
        var role: Role
        var status: libusb_transfer_status
        /// The number of bytes sent or received.
        var count: Int
        /// The bytes received.
        var data: [UInt8]
    }

    /// A transfer submitted to libusb, and its buffer. Both may be freed only after it has completed or the device is
    /// closed.
    private final class Begun {
        let role: Role
        let transfer: USBLibrary.Transfer
        let buffer: UnsafeMutableBufferPointer<UInt8>
        var hasEnded = false

        init(_ role: Role, _ transfer: USBLibrary.Transfer, _ size: Int) {
            self.role = role
            self.transfer = transfer
            buffer = .allocate(capacity: size)
            buffer.initialize(repeating: 0)
        }

        deinit {
            if let start = buffer.baseAddress { explicit_bzero(start, buffer.count) }
            buffer.deallocate()
        }
    }

    private let library: USBLibrary
    private let context: USBLibrary.Context?
    private let handle: USBLibrary.Handle
    private var begun: [Begun] = []
    private var claimed: Int32?

    /// Wraps an open node, which the caller still has to close. Throws libusb's error.
    init(_ node: Int32, library: USBLibrary) throws(USBCode) {
        var context: USBLibrary.Context?
        var handle: USBLibrary.Handle?
        try USBCode.check(library.makeContext(&context))
        let code = library.wrap(context, Int(node), &handle)
        guard code >= 0, let handle else {
            library.releaseContext(context)
            throw USBCode(rawValue: code)
        }
        (self.library, self.context, self.handle) = (library, context, handle)
        _ = library.detachDrivers(handle)
    }

    /// Claims an interface and detaches its kernel driver, if any, until the interface is released.
    func claim(_ number: UInt8) throws(USBCode) {
        try USBCode.check(library.claim(handle, Int32(number)))
        claimed = Int32(number)
    }

    /// Cancels pending transfers, waits at most this long for them to complete, and releases the interface. The handle
    /// must not be used afterwards.
    func close(within milliseconds: Int32) {
        for one in begun { _ = library.cancel(one.transfer) }
        let end = ContinuousClock.now.advanced(by: .milliseconds(Int64(milliseconds)))
        while !begun.isEmpty, ContinuousClock.now < end {
            if next() == nil { _ = library.handleEvents(context, min(20, milliseconds)) }
        }
        if let claimed { _ = library.release(handle, claimed) }
        library.close(handle)
        library.releaseContext(context)
        // For a transfer that did not complete, only the buffer is freed: libusb still refers to the rest.
        begun = []
    }

    // MARK: transfers

    /// Whether a transfer is pending for an endpoint.
    func has(_ role: Role) -> Bool { begun.contains { $0.role == role } }

    /// Submits a transfer that sends `data`, or one that receives at most `size` bytes.
    func start(_ role: Role, _ endpoint: UInt8, _ data: [UInt8]?, _ size: Int) throws(USBCode) {
        guard let transfer = library.makeTransfer() else { throw USBCode(LIBUSB_ERROR_NO_MEM) }
        let one = Begun(role, transfer, size)
        if let data { _ = one.buffer.update(fromContentsOf: data.prefix(size)) }
        transfer.pointee.dev_handle = handle
        transfer.pointee.endpoint = endpoint
        let kind = role == .interrupt ? LIBUSB_TRANSFER_TYPE_INTERRUPT : LIBUSB_TRANSFER_TYPE_BULK
        transfer.pointee.type = UInt8(kind.rawValue)
        transfer.pointee.timeout = 0
        transfer.pointee.buffer = one.buffer.baseAddress
        transfer.pointee.length = Int32(clamping: size)
        transfer.pointee.user_data = Unmanaged.passUnretained(one).toOpaque()
        transfer.pointee.callback = { transfer in
            guard let owner = transfer?.pointee.user_data else { return }
            Unmanaged<Begun>.fromOpaque(owner).takeUnretainedValue().hasEnded = true
        }
        let code = library.submit(transfer)
        guard code >= 0 else {
            library.freeTransfer(transfer)
            throw USBCode(rawValue: code)
        }
        begun.append(one)
    }

    /// Cancels the transfer of an endpoint; it still has to complete.
    func cancel(_ role: Role) {
        for one in begun where one.role == role { _ = library.cancel(one.transfer) }
    }

    /// Waits until a transfer may have completed.
    func wait(_ milliseconds: Int32) throws(USBCode) {
        let code = library.handleEvents(context, milliseconds)
        if code != LIBUSB_ERROR_INTERRUPTED.rawValue { try USBCode.check(code) }
    }

    /// Removes and returns a completed transfer; `nil` if there is none.
    func next() -> Ended? {
        guard let index = begun.firstIndex(where: \.hasEnded) else { return nil }
        let one = begun.remove(at: index)
        let (status, sent) = (one.transfer.pointee.status, Int(one.transfer.pointee.actual_length))
        library.freeTransfer(one.transfer)
        let count = min(max(0, sent), one.buffer.count)
        let data = one.role == .output ? [] : Array(one.buffer.prefix(count))
        return Ended(role: one.role, status: status, count: count, data: data)
    }

    // MARK: requests

    /// Sends a class request without data to an interface.
    func request(_ request: UInt8, value: UInt16, interface: UInt8, milliseconds: Int32) throws(USBCode) {
        try USBCode.check(
            library.request(handle, request, value, UInt16(interface), UInt32(max(1, milliseconds))))
    }

    /// Clears the halt condition of an endpoint.
    func clearHalt(_ endpoint: UInt8) throws(USBCode) { try USBCode.check(library.clearHalt(handle, endpoint)) }
}

/// A negative libusb error code.
struct USBCode: Error, RawRepresentable, Hashable {
    let rawValue: Int32

    init(rawValue: Int32) { self.rawValue = rawValue }
    init(_ code: libusb_error) { rawValue = code.rawValue }

    static func check(_ code: Int32) throws(USBCode) {
        guard code >= 0 else { throw USBCode(rawValue: code) }
    }
}
