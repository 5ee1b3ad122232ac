// SPDX-License-Identifier: Apache-2.0

import CUDev
import Glibc

/// The functions used from libudev, as a table: filled at run time by the real library, in tests by their own.
struct UDevLibrary: Sendable {
    /// Starts to monitor hidraw and USB devices; `nil` when that is not possible.
    var monitor: @Sendable (Source) -> UDevMonitor?

    /// The source of events.
    enum Source: String, Sendable {
        /// The udev daemon, after its rules were applied.
        case daemon = "udev"
        /// The kernel itself.
        case kernel
    }
}

/// An active libudev monitor.
struct UDevMonitor: Sendable {
    /// Becomes readable when there is an event.
    let descriptor: Int32
    /// Removes one event; returns false when there is none.
    let take: @Sendable () -> Bool
    /// Ends the monitor.
    let close: @Sendable () -> Void
}

extension UDevLibrary {
    /// The name under which every distribution ships the library.
    static let soname = "libudev.so.1"

    /// Opens the library, which stays open; `nil` when it is missing or incomplete.
    static func load(_ path: String = soname) -> UDevLibrary? {
        OpenedLibrary.load(path, Calls.init(library:)).map { calls in UDevLibrary(monitor: { calls.monitor($0) }) }
    }

    /// The functions of the library. Each monitor has a context of its own, so that threads share nothing.
    private struct Calls: @unchecked Sendable {
        typealias New = @convention(c) () -> OpaquePointer?
        typealias Made = @convention(c) (OpaquePointer) -> OpaquePointer?
        typealias Number = @convention(c) (OpaquePointer) -> Int32
        typealias Filter = @convention(c) (OpaquePointer, UnsafePointer<CChar>, UnsafePointer<CChar>?) -> Int32
        typealias Open = @convention(c) (OpaquePointer, UnsafePointer<CChar>) -> OpaquePointer?

        let new: New
        let release: Made
        let newMonitor: Open
        let releaseMonitor: Made
        let filter: Filter
        let enable: Number
        let descriptor: Number
        let receive: Made
        let releaseDevice: Made

        init(library: OpenedLibrary) throws(OpenedLibrary.FunctionMissing) {
            new = try library.function("udev_new", New.self)
            release = try library.function("udev_unref", Made.self)
            newMonitor = try library.function("udev_monitor_new_from_netlink", Open.self)
            releaseMonitor = try library.function("udev_monitor_unref", Made.self)
            filter = try library.function("udev_monitor_filter_add_match_subsystem_devtype", Filter.self)
            enable = try library.function("udev_monitor_enable_receiving", Number.self)
            descriptor = try library.function("udev_monitor_get_fd", Number.self)
            receive = try library.function("udev_monitor_receive_device", Made.self)
            releaseDevice = try library.function("udev_device_unref", Made.self)
        }

        func monitor(_ source: Source) -> UDevMonitor? {
            guard let context = new() else { return nil }
            guard let monitor = newMonitor(context, source.rawValue) else {
                _ = release(context)
                return nil
            }
            nonisolated(unsafe) let (held, owner) = (monitor, context)
            let close: @Sendable () -> Void = {
                _ = releaseMonitor(held)
                _ = release(owner)
            }
            guard filter(monitor, "hidraw", nil) >= 0, filter(monitor, "usb", "usb_device") >= 0, enable(monitor) >= 0
            else {
                close()
                return nil
            }
            let take: @Sendable () -> Bool = {
                guard let device = receive(held) else { return false }
                _ = releaseDevice(device)
                return true
            }
            return UDevMonitor(descriptor: descriptor(monitor), take: take, close: close)
        }
    }
}
