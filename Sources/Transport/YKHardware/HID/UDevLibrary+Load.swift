// SPDX-License-Identifier: Apache-2.0

import CUDev
import Glibc

extension UDevLibrary {
    /// The name under which every distribution ships the library.
    static let soname = "libudev.so.1"

    /// Opens the library, which stays open; `nil` when it is not there or is not complete.
    static func load(_ path: String = soname) -> UDevLibrary? {
        guard let image = dlopen(path, RTLD_NOW | RTLD_LOCAL) else { return nil }
        guard let calls = Calls(image) else {
            dlclose(image)
            return nil
        }
        return UDevLibrary(monitor: { calls.monitor($0) })
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

        init?(_ image: UnsafeMutableRawPointer) {
            func symbol<Function>(_ name: String, _ type: Function.Type) -> Function? {
                dlsym(image, name).map { unsafeBitCast($0, to: type) }
            }
            guard let new = symbol("udev_new", New.self), let release = symbol("udev_unref", Made.self),
                let newMonitor = symbol("udev_monitor_new_from_netlink", Open.self),
                let releaseMonitor = symbol("udev_monitor_unref", Made.self),
                let filter = symbol("udev_monitor_filter_add_match_subsystem_devtype", Filter.self),
                let enable = symbol("udev_monitor_enable_receiving", Number.self),
                let descriptor = symbol("udev_monitor_get_fd", Number.self),
                let receive = symbol("udev_monitor_receive_device", Made.self),
                let releaseDevice = symbol("udev_device_unref", Made.self)
            else { return nil }
            (self.new, self.release) = (new, release)
            (self.newMonitor, self.releaseMonitor, self.filter) = (newMonitor, releaseMonitor, filter)
            (self.enable, self.descriptor) = (enable, descriptor)
            (self.receive, self.releaseDevice) = (receive, releaseDevice)
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
