// SPDX-License-Identifier: Apache-2.0

extension Discovery {
    /// Reports keys being attached, changed and removed over any interface, starting with those already attached, until
    /// the stream is no longer read. A newly attached key arrives with its first interface and changes with each
    /// further one.
    public static func watch() -> AsyncStream<HardwareEvent> { watch(Machine()) }

    static func watch(_ machine: Machine) -> AsyncStream<HardwareEvent> {
        AsyncStream { stream in
            let signals = Signals()
            let task = Task {
                await withTaskGroup { group in
                    group.addTask { for await _ in machine.news().changes() { signals.send(.devices) } }
                    group.addTask { for await event in machine.readerEvents() { signals.send(.reader(event)) } }
                    group.addTask { await tell(machine, stream, signals.stream) }
                    await group.waitForAll()
                }
                stream.finish()
            }
            stream.onTermination = { _ in task.cancel() }
        }
    }

    /// A reason to look again.
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
        _ machine: Machine, _ stream: AsyncStream<HardwareEvent>.Continuation, _ signals: AsyncStream<Signal>
    ) async {
        var picture = Picture()
        for await signal in signals {
            switch signal {
            case .devices: picture.look(machine.usb.all(), (try? machine.hid.keys()) ?? [])
            case .reader(let event):
                if case .interrupted(let why) = event { stream.yield(.interrupted(why)) }
                picture.take(event)
            }
            let changes = picture.changes { machine.locate($0, .seconds(1)) }
            for event in changes { stream.yield(event) }
        }
    }

    /// The known state of everything that is attached.
    struct Picture {
        private var devices: [USBDevice] = []
        private var hid: [HIDDevice] = []
        private var readers: [ReaderStatus] = []
        private var known: [SecurityKey] = []
        private var hasDevices = false
        private var hasReaders = false
        private var isTold = false
        /// The locations of readers as reported by the service, which is queried once for each.
        private var places: [String: (bus: Int, address: Int)] = [:]

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

        /// Returns the changes since the last time. A key that was removed and reinserted in between is reported as
        /// both.
        mutating func changes(
            locate: (String) -> (bus: Int, address: Int)?
        ) -> [HardwareEvent] {
            guard hasDevices else { return [] }
            var places = places
            let now = merge(devices, hid, readers) { name in
                if let place = places[name] { return place }
                places[name] = locate(name)
                return places[name]
            }
            self.places = places
            defer { known = now }
            var events: [HardwareEvent] = known.filter { old in !now.contains { $0.isSame(as: old) } }.map(
                HardwareEvent.left)
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
    /// Whether this is still the same device in the same place: the kernel renumbers devices each time they are
    /// attached.
    fileprivate func isSame(as other: SecurityKey) -> Bool {
        place == other.place && (usb == nil || other.usb == nil || usb?.address == other.usb?.address)
    }
}
