// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKTransport

/// The HID devices of a machine, as shown by its kernel, and the source of device events.
struct HIDMachine: Sendable {
    /// Used only for watching.
    var news = DeviceNews()
    /// The path of sysfs.
    var system = "/sys"
    /// The path of the nodes.
    var devices = "/dev"

    /// The security keys among the HID devices, ordered by node number.
    func keys() throws(LinkError) -> [HIDDevice] {
        guard access("\(system)/class", F_OK) == 0 else {
            throw .failed(code: UInt32(ENOENT), "\(system) does not exist, so HID devices cannot be listed")
        }
        let found = scan().compactMap { HIDDevice(sysPath: $0, devices: devices) }
        return found.sorted { ($0.path.utf8.count, $0.path) < ($1.path.utf8.count, $1.path) }
    }

    /// The folders of the hidraw devices.
    private func scan() -> [String] {
        let folder = "\(system)/class/hidraw"
        return SystemFile.names(in: folder).compactMap { SystemFile.real("\(folder)/\($0)") }
    }

    /// Reports device changes until the stream is no longer read.
    func watch() -> AsyncStream<HIDEvent> { news.stream(after: [HIDDevice]?.none) { events(&$0) } }

    /// Reports device changes on a thread of its own; returns what ends that.
    func follow(_ report: @escaping @Sendable (HIDEvent) -> Void) -> (@Sendable () -> Void)? {
        guard let watch = news.follow(after: [HIDDevice]?.none, { events(&$0) }, report) else { return nil }
        return { watch.stop() }
    }

    /// The changes since the last look.
    private func events(_ known: inout [HIDDevice]?) -> [HIDEvent] {
        let isFirst = known == nil
        let now = (try? keys()) ?? known ?? []
        defer { known = now }
        return Self.changes(from: known ?? [], to: now) + (isFirst ? [.enumerated] : [])
    }

    /// The changes between two lists. A device is the same as long as its sysfs folder is the same: the kernel never
    /// reuses device numbers.
    private static func changes(from known: [HIDDevice], to now: [HIDDevice]) -> [HIDEvent] {
        let gone = known.filter { old in !now.contains { $0.sysPath == old.sysPath } }
        return gone.map(HIDEvent.left)
            + now.compactMap { new in
                guard let old = known.first(where: { $0.sysPath == new.sysPath }) else { return .arrived(new) }
                return new == old ? nil : .changed(new)
            }
    }
}
