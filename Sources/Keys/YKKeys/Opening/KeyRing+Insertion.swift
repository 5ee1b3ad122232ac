// SPDX-License-Identifier: Apache-2.0

import YKHardware
import YKTransport

/// The polling interval while waiting for a key.
private let pollInterval = Duration.milliseconds(20)

extension KeyRing {
    /// Waits until the key at a node has been removed, inserted again, and is accessible.
    ///
    /// - Parameters:
    ///   - path: The node of the key's FIDO interface, or its port.
    ///   - patience: The maximum wait.
    ///   - announce: Called when the key may be removed.
    /// - Returns: The key's new node.
    /// - Throws: `differentKey`, `link(.timedOut)` or `link(.cancelled)`.
    package func reinsertedNode(
        _ path: String, within patience: Duration = .seconds(60), _ announce: @Sendable () -> Void
    ) async throws(KeyError) -> String {
        let before = try await offPool { () throws(KeyError) in try plugged() }
        guard let key = before.first(where: { $0.isAt(path) }) else { throw .link(.noDevice(path: path)) }
        let serial = try await serial(of: key)
        announce()
        let back = try await comeback(of: key, among: before, patience)
        guard back.isLike(key), try await self.serial(of: back) == serial else { throw .differentKey }
        return back.fido?.path ?? path
    }

    /// Waits until the card in a reader has been removed and inserted again.
    ///
    /// - Parameters:
    ///   - reader: The reader's name.
    ///   - patience: The maximum wait.
    ///   - announce: Called when the card may be removed.
    /// - Returns: The card's new reader.
    /// - Throws: `differentKey`, `link(.timedOut)` or `link(.cancelled)`.
    package func reinsertedReader(
        _ reader: String, within patience: Duration = .seconds(60), _ announce: @Sendable () -> Void
    ) async throws(KeyError) -> String {
        let serial = try await serial(reader: reader)
        announce()
        var hasLeft = false
        let now = try await awaiting(
            "the card to be removed from the reader and put back", patience
        ) { () throws(KeyError) -> String? in
            let filled = try await offPool { () throws(KeyError) in
                (try? readers())?.filter(\.hasCard).map(\.name) ?? []
            }
            let back = hasLeft ? filled.first { $0 == reader } ?? (filled.count == 1 ? filled.first : nil) : nil
            hasLeft = hasLeft || !filled.contains(reader)
            return back
        }
        guard try await self.serial(reader: now) == serial else { throw .differentKey }
        return now
    }

    /// The keys on USB.
    private func plugged() throws(KeyError) -> [SecurityKey] {
        try lifting { () throws(LinkError) in try devices(asking: false).keys }
    }

    private func serial(of key: SecurityKey) async throws(KeyError) -> String? {
        try await offPool { () throws(KeyError) in details(of: key)?.serial ?? key.serial }
    }

    private func serial(reader: String) async throws(KeyError) -> String? {
        try await offPool { () throws(KeyError) in (try? details(reader: reader))?.serial }
    }

    /// Returns the reinserted key as soon as its FIDO interface is accessible.
    private func comeback(
        of key: SecurityKey, among before: [SecurityKey], _ patience: Duration
    ) async throws(KeyError) -> SecurityKey {
        var hasLeft = false
        return try await awaiting(
            "the key to be removed and inserted again", patience
        ) { () throws(KeyError) -> SecurityKey? in
            let now = try await offPool { () throws(KeyError) in try plugged() }
            if !hasLeft { hasLeft = !now.contains { $0.isSameDevice(as: key) } }
            let new = now.first { one in
                one.fido?.access == .readable && !before.contains { $0.place != key.place && $0.isSameDevice(as: one) }
            }
            return hasLeft ? new : nil
        }
    }

    /// Polls until there is a result or the timeout expires.
    private func awaiting<Value>(
        _ what: String, _ patience: Duration, _ look: () async throws(KeyError) -> Value?
    ) async throws(KeyError) -> Value {
        let deadline = Deadline.after(patience, cancellation: environment.cancellation)
        while true {
            try lifting { () throws(LinkError) in try deadline.check(what) }
            if let value = try await look() { return value }
            do { try await Task.sleep(for: pollInterval) } catch { throw .link(.cancelled) }
        }
    }

    // MARK: arrival

    /// Waits until a card is in a selected reader; returns immediately if one is present.
    ///
    /// - Parameter announce: Called when there is no card yet.
    /// - Throws: `link(.timedOut)`, `link(.cancelled)`, or the failure of the smart card service.
    package func waitForCard(_ announce: @Sendable () -> Void) async throws(KeyError) {
        let isThere = try lifting { () throws(LinkError) in try target.hasCard(in: try readers()) }
        if isThere { return }
        announce()
        do { try await cardArrival() } catch {
            throw .link((error as? LinkError) ?? .cancelled)
        }
    }

    private func cardArrival() async throws {
        let (selection, hardware, deadline) = (target, hardware, environment.deadline())
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await event in hardware.readerEvents() {
                    switch event {
                    case .added(let reader), .changed(let reader):
                        if (try? selection.hasCard(in: [reader])) ?? false { return }
                    case .interrupted(let error): throw error
                    default: break
                    }
                }
                try deadline.check("waiting for a card")
                throw LinkError.noReader
            }
            group.addTask {
                while true {
                    try deadline.check("waiting for a card")
                    try await Task.sleep(for: .milliseconds(50))
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}

extension SecurityKey {
    /// Whether vendor, product and name are the same.
    fileprivate func isLike(_ other: SecurityKey) -> Bool {
        numbers?.vendor == other.numbers?.vendor && numbers?.product == other.numbers?.product && name == other.name
    }

    /// Whether the kernel's device number is unchanged.
    fileprivate func isSameDevice(as other: SecurityKey) -> Bool {
        place == other.place && usb?.address == other.usb?.address && fido?.sysPath == other.fido?.sysPath
    }
}
