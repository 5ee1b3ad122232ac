// SPDX-License-Identifier: Apache-2.0

import Glibc
public import YKTransport

/// Finds the attached keys, each listed once with all its interfaces.
public enum Discovery {
    /// The result of a discovery.
    public struct Findings: Sendable, Hashable {
        /// The keys and readers.
        public var keys: [SecurityKey]
        /// The failure of the smart card service; keys that only it knows are then missing.
        public var serviceTrouble: LinkError?
    }

    /// Lists the keys on USB, other FIDO devices, and the readers of the smart card service; nothing is sent to a key.
    /// When two keys have the same name, the service is queried for the location of its readers.
    ///
    /// - Throws: `cancelled`; after any other failure only the affected keys are missing.
    public static func keys(
        asking service: Bool = true, timeout: Duration = .seconds(5), cancellation: Cancellation? = nil
    ) throws(LinkError) -> Findings {
        try keys(on: Machine(), asking: service, timeout: timeout, cancellation: cancellation)
    }

    static func keys(
        on machine: Machine, asking service: Bool, timeout: Duration, cancellation: Cancellation?
    ) throws(LinkError) -> Findings {
        let devices = machine.usb.all()
        let hid = (try? machine.hid.keys()) ?? []
        var trouble: LinkError?
        var readers: [ReaderStatus] = []
        if service {
            do { readers = try machine.readers(timeout, cancellation) } catch {
                if error == .cancelled { throw error }
                trouble = error
            }
        }
        let keys = merge(devices, hid, readers) { machine.locate($0, timeout) }
        return Findings(keys: keys, serviceTrouble: trouble)
    }

    /// Merges interfaces: those of one USB port, and the reader whose name matches exactly one of the devices; `locate`
    /// returns bus and address of a reader when names are ambiguous.
    package static func merge(
        _ devices: [USBDevice], _ hid: [HIDDevice], _ readers: [ReaderStatus],
        locate: (String) -> (bus: Int, address: Int)?
    ) -> [SecurityKey] {
        var keys = devices.filter { device in
            device.reader != nil || hid.contains { $0.usbPath == device.usbPath }
        }.map { SecurityKey(place: .usb($0.usbPath), usb: $0) }
        for device in hid {
            let place = device.usbPath.map(SecurityKey.Place.usb) ?? .node(device.path)
            if let index = keys.firstIndex(where: { $0.place == place }) {
                keys[index].hid.append(device)
            } else {
                keys.append(SecurityKey(place: place, hid: [device]))
            }
        }
        for reader in readers {
            if let index = match(reader, readers, keys, locate) {
                keys[index].reader = reader
            } else {
                keys.append(SecurityKey(place: .reader(reader.name), reader: reader))
            }
        }
        return keys
    }

    private static func match(
        _ reader: ReaderStatus, _ readers: [ReaderStatus], _ keys: [SecurityKey],
        _ locate: (String) -> (bus: Int, address: Int)?
    ) -> Int? {
        let open = keys.indices.filter { keys[$0].usbReader != nil && keys[$0].reader == nil }
        guard !open.isEmpty else { return nil }
        let named = open.filter { reader.name.isName(of: keys[$0]) }
        if named.count == 1, let only = named.first, readers.count(where: { $0.name.isName(of: keys[only]) }) == 1 {
            return only
        }
        guard let found = locate(reader.name) else { return nil }
        return open.first { keys[$0].usb?.bus == found.bus && keys[$0].usb?.address == found.address }
    }
}

extension String {
    /// Whether a reader's name, which pcscd builds from the USB device's name, belongs to a key.
    fileprivate func isName(of key: SecurityKey) -> Bool {
        guard let name = key.usb?.productName, !name.isEmpty else { return false }
        let own = lowercased()
        // The rest is the interface in brackets, the serial number in parentheses, and two numbers of two digits; a
        // longer product name belongs to another product: "Solo 2" is not "Solo".
        let isWhole = own.ranges(of: name.lowercased()).contains { range in
            let rest = own[range.upperBound...].drop { $0 == " " }
            return rest.first == "[" || rest.first == "(" || rest.utf8.count <= 5
        }
        return isWhole && (key.usb?.manufacturer.map { own.contains($0.lowercased()) } ?? true)
    }
}

extension Discovery {
    /// Where keys are looked for; this machine unless a test says otherwise.
    struct Machine: Sendable {
        var usb = USBMachine()
        var hid = HIDMachine()
        /// A function, because only watching needs libudev.
        var news: @Sendable () -> DeviceNews = { .here }
        var readers: @Sendable (Duration, Cancellation?) throws(LinkError) -> [ReaderStatus] = {
            timeout, cancellation throws(LinkError) in try PCSC.readers(timeout: timeout, cancellation: cancellation)
        }
        var readerEvents: @Sendable () -> AsyncStream<ReaderEvent> = { PCSC.watch() }
        /// The bus and address of a reader, as reported by the service.
        var locate: @Sendable (_ reader: String, _ timeout: Duration) -> (bus: Int, address: Int)? = {
            PCSC.usbAddress(of: $0, timeout: $1)
        }
    }
}

/// Reports that devices are added, changed or removed.
struct DeviceNews: Sendable {
    /// Without libudev, devices are polled every half second.
    var library: UDevLibrary?
    /// Whether the udev daemon is running.
    var hasDaemon: @Sendable () -> Bool = { access("/run/udev/control", F_OK) == 0 }

    /// The news of this machine; libudev is loaded at first use.
    static let here = DeviceNews(library: .load())

    /// Calls `look` at once, and then whenever devices may have changed, until the stream is no longer read. `look`
    /// receives its previous knowledge, and returns the events to report.
    func stream<Known: Sendable, Event: Sendable>(
        after nothing: Known, keeping policy: AsyncStream<Event>.Continuation.BufferingPolicy = .unbounded,
        _ look: @escaping @Sendable (inout Known) -> [Event]
    ) -> AsyncStream<Event> {
        AsyncStream(bufferingPolicy: policy) { stream in
            let watch = follow(after: nothing, look, { stream.yield($0) }, ended: { stream.finish() })
            guard let watch else { return stream.finish() }
            stream.onTermination = { _ in watch.stop() }
        }
    }

    /// The same without tasks: calls `report` for each event, on a thread of its own, until the watch is stopped.
    ///
    /// - Returns: `nil` if the system has no descriptor or thread left.
    func follow<Known: Sendable, Event>(
        after nothing: Known, _ look: @escaping @Sendable (inout Known) -> [Event],
        _ report: @escaping @Sendable (Event) -> Void, ended: @escaping @Sendable () -> Void = {}
    ) -> DeviceWatch? {
        guard let watch = DeviceWatch(self) else { return nil }
        let isStarted = SystemThread.start {
            var known = nothing
            watch.run { for event in look(&known) { report(event) } }
            ended()
        }
        return isStarted ? watch : nil
    }

    /// Yields at once, and then whenever devices may have changed; missed signals are merged into one.
    func changes() -> AsyncStream<Void> { stream(after: (), keeping: .bufferingNewest(1)) { _ in [()] } }
}

/// Waits for device events on the calling thread until stopped from another.
final class DeviceWatch: Sendable {
    /// The polling interval when no event source is available.
    private static let round: Int32 = 500

    private let news: DeviceNews
    /// A socket pair: closing the writing end stops the wait.
    private let wake: (reading: Int32, writing: Int32)

    init?(_ news: DeviceNews) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
        wake = (ends[0], ends[1])
        self.news = news
    }

    deinit { _ = close(wake.reading) }

    /// Stops the wait.
    func stop() { _ = close(wake.writing) }

    /// Calls `look` at once, and again after each event.
    func run(_ look: () -> Void) {
        let monitor = news.library?.monitor(news.hasDaemon() ? .daemon : .kernel)
        defer { monitor?.close() }
        repeat {
            while monitor?.take() ?? false {}
            look()
        } while wait(monitor)
    }

    /// Waits until something may have happened; returns false when the watch was stopped.
    private func wait(_ monitor: UDevMonitor?) -> Bool {
        let events = Int16(POLLIN)
        var waiting = [pollfd(fd: wake.reading, events: events, revents: 0)]
        if let monitor { waiting.append(pollfd(fd: monitor.descriptor, events: events, revents: 0)) }
        _ = poll(&waiting, nfds_t(waiting.count), monitor == nil ? Self.round : -1)
        return waiting[0].revents == 0
    }
}
