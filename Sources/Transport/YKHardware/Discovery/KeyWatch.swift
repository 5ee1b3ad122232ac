// SPDX-License-Identifier: Apache-2.0

import YKTransport

extension Discovery {
    /// Tells of keys that come, change and go over any interface, beginning with those that are there, until the stream
    /// is no longer read. A key that is plugged in arrives with its first interface and changes with each other one.
    public static func watch() -> AsyncStream<KeyEvent> {
        AsyncStream { stream in
            let signals = Signals()
            let task = Task {
                await withTaskGroup { group in
                    group.addTask { for await _ in DeviceNews.here.bells() { signals.send(.devices) } }
                    group.addTask { for await event in PCSC.watch() { signals.send(.reader(event)) } }
                    group.addTask { await tell(stream, signals.stream) }
                    await group.waitForAll()
                }
                stream.finish()
            }
            stream.onTermination = { _ in task.cancel() }
        }
    }

    /// What may be a reason to look again.
    private enum Signal: Sendable {
        case devices
        case reader(ReaderEvent)
    }

    private struct Signals: Sendable {
        let stream: AsyncStream<Signal>
        private let continuation: AsyncStream<Signal>.Continuation

        init() { (stream, continuation) = AsyncStream.makeStream(of: Signal.self) }

        func send(_ signal: Signal) { continuation.yield(signal) }
    }

    private static func tell(
        _ stream: AsyncStream<KeyEvent>.Continuation, _ signals: AsyncStream<Signal>
    ) async {
        var picture = Picture()
        for await signal in signals {
            switch signal {
            case .devices: picture.look()
            case .reader(let event):
                if case .interrupted(let why) = event { stream.yield(.interrupted(why)) }
                picture.take(event)
            }
            for event in picture.changes() { stream.yield(event) }
        }
    }

    /// What is known of everything that is attached.
    struct Picture {
        private var devices: [USBDevice] = []
        private var hid: [HIDDevice] = []
        private var readers: [ReaderStatus] = []
        private var known: [SecurityKey] = []
        private var hasDevices = false
        private var hasReaders = false
        private var isTold = false
        /// Where readers are, as the service said; it is asked once for each.
        private var places: [String: (bus: Int, address: Int)] = [:]

        /// Reads what the kernel shows.
        mutating func look() { look(USB.devices(), (try? HIDRaw.devices()) ?? []) }

        mutating func look(_ devices: [USBDevice], _ hid: [HIDDevice]) {
            (self.devices, self.hid, hasDevices) = (devices, hid, true)
        }

        mutating func take(_ event: ReaderEvent) {
            switch event {
            case .added(let reader), .changed(let reader):
                readers.removeAll { $0.name == reader.name }
                readers.append(reader)
            case .removed(let name):
                readers.removeAll { $0.name == name }
                places[name] = nil
            case .enumerated: hasReaders = true
            case .interrupted: (hasReaders, readers, places) = (true, [], [:])
            }
        }

        /// What is different since the last time. A key that left and came back in between is told as both.
        mutating func changes(
            locate: (String) -> (bus: Int, address: Int)? = { PCSC.usbAddress(of: $0, timeout: .seconds(1)) }
        ) -> [KeyEvent] {
            guard hasDevices else { return [] }
            var places = places
            let now = merge(devices, hid, readers) { name in
                if let place = places[name] { return place }
                places[name] = locate(name)
                return places[name]
            }
            self.places = places
            defer { known = now }
            var events: [KeyEvent] = known.filter { old in !now.contains { $0.isSame(as: old) } }.map(KeyEvent.left)
            for new in now {
                let old = known.first { $0.isSame(as: new) }
                if old == nil { events.append(.arrived(new)) } else if old != new { events.append(.changed(new)) }
            }
            if !isTold, hasReaders {
                isTold = true
                events.append(.enumerated)
            }
            return events
        }
    }
}

extension SecurityKey {
    /// Whether this is still the same device in the same place: the kernel numbers devices anew each time.
    fileprivate func isSame(as other: SecurityKey) -> Bool {
        place == other.place && (usb == nil || other.usb == nil || usb?.address == other.usb?.address)
    }
}
