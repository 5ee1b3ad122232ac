// SPDX-License-Identifier: Apache-2.0

import CUSB
import Glibc

/// The libusb-1.0 functions in use, as a table: filled from the real library at run time, or by a test. Each function
/// returns a negative `libusb_error` on failure.
struct USBLibrary: Sendable {
    typealias Context = OpaquePointer
    typealias Handle = OpaquePointer
    typealias Transfer = UnsafeMutablePointer<libusb_transfer>

    var makeContext: @Sendable (_ context: inout Context?) -> Int32
    var releaseContext: @Sendable (Context?) -> Void
    /// Wraps an open node of /dev/bus/usb, which the caller still has to close.
    var wrap: @Sendable (Context?, _ node: Int, _ handle: inout Handle?) -> Int32
    var close: @Sendable (Handle) -> Void
    /// Detaches the kernel driver when an interface is claimed and reattaches it when the interface is released.
    var detachDrivers: @Sendable (Handle) -> Int32
    var claim: @Sendable (Handle, _ interface: Int32) -> Int32
    var release: @Sendable (Handle, _ interface: Int32) -> Int32
    var clearHalt: @Sendable (Handle, _ endpoint: UInt8) -> Int32
    /// Sends a class request without data to an interface.
    var request:
        @Sendable (Handle, _ request: UInt8, _ value: UInt16, _ interface: UInt16, _ milliseconds: UInt32) -> Int32
    var makeTransfer: @Sendable () -> Transfer?
    var freeTransfer: @Sendable (Transfer) -> Void
    var submit: @Sendable (Transfer) -> Int32
    var cancel: @Sendable (Transfer) -> Int32
    /// Waits at most this many milliseconds for an event and calls back for each completed transfer.
    var handleEvents: @Sendable (Context?, _ milliseconds: Int32) -> Int32
}

extension USBLibrary {
    /// The library's soname on every distribution.
    static let soname = "libusb-1.0.so.0"

    /// The library installed on this machine; `nil` if it is missing or older than 1.0.23.
    static let system = load()

    /// Opens the library, which stays open; `nil` if it is missing or lacks a function.
    static func load(_ path: String = soname) -> USBLibrary? { OpenedLibrary.load(path, USBLibrary.init(library:)) }

    private typealias NewContext = @convention(c) (UnsafeMutablePointer<Context?>?) -> Int32
    private typealias EndContext = @convention(c) (Context?) -> Void
    private typealias Wrap = @convention(c) (Context?, Int, UnsafeMutablePointer<Handle?>) -> Int32
    private typealias Close = @convention(c) (Handle) -> Void
    private typealias OnInterface = @convention(c) (Handle, Int32) -> Int32
    private typealias OnEndpoint = @convention(c) (Handle, UInt8) -> Int32
    private typealias Control =
        @convention(c) (Handle, UInt8, UInt8, UInt16, UInt16, UnsafeMutablePointer<UInt8>?, UInt16, UInt32) -> Int32
    private typealias NewTransfer = @convention(c) (Int32) -> Transfer?
    private typealias EndTransfer = @convention(c) (Transfer) -> Void
    private typealias OnTransfer = @convention(c) (Transfer) -> Int32
    private typealias Events = @convention(c) (Context?, UnsafeMutablePointer<timeval>) -> Int32

    private init(library: OpenedLibrary) throws(OpenedLibrary.FunctionMissing) {
        let setOption = try library.address("libusb_set_option")
        let newContext = try library.function("libusb_init", NewContext.self)
        let endContext = try library.function("libusb_exit", EndContext.self)
        let wrap = try library.function("libusb_wrap_sys_device", Wrap.self)
        let close = try library.function("libusb_close", Close.self)
        let detach = try library.function("libusb_set_auto_detach_kernel_driver", OnInterface.self)
        let claim = try library.function("libusb_claim_interface", OnInterface.self)
        let release = try library.function("libusb_release_interface", OnInterface.self)
        let clearHalt = try library.function("libusb_clear_halt", OnEndpoint.self)
        let control = try library.function("libusb_control_transfer", Control.self)
        let newTransfer = try library.function("libusb_alloc_transfer", NewTransfer.self)
        let endTransfer = try library.function("libusb_free_transfer", EndTransfer.self)
        let submit = try library.function("libusb_submit_transfer", OnTransfer.self)
        let cancel = try library.function("libusb_cancel_transfer", OnTransfer.self)
        let events = try library.function("libusb_handle_events_timeout", Events.self)
        // Devices are opened by the node that sysfs names, so listing all devices and starting a thread to watch them
        // would be wasted work.
        ykit_usb_skip_discovery(setOption)
        self.init(
            makeContext: { newContext(&$0) }, releaseContext: { endContext($0) }, wrap: { wrap($0, $1, &$2) },
            close: { close($0) }, detachDrivers: { detach($0, 1) }, claim: { claim($0, $1) },
            release: { release($0, $1) }, clearHalt: { clearHalt($0, $1) },
            request: { control($0, 0x21, $1, $2, $3, nil, 0, $4) },
            makeTransfer: { newTransfer(0) }, freeTransfer: { endTransfer($0) },
            submit: { submit($0) }, cancel: { cancel($0) },
            handleEvents: { context, milliseconds in
                var limit = timeval(
                    tv_sec: Int(milliseconds) / 1000, tv_usec: Int(milliseconds) % 1000 * 1000)
                return events(context, &limit)
            })
    }
}
