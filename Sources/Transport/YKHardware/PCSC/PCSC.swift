// SPDX-License-Identifier: Apache-2.0

import CPCSC
public import YKTransport

/// Smart cards through the smart card service (pcscd).
public enum PCSC {
    /// How a card is shared (PC/SC part 5 §3.2.5).
    public enum Share: Sendable, Hashable {
        /// Other programs may be connected too; each locks the others out while it needs the card.
        case shared
        /// No other program may be connected.
        case exclusive
    }

    /// Lists the readers and their cards; empty when there is no reader.
    ///
    /// - Throws: The failure of the service, `timedOut`, or `cancelled`.
    public static func readers(
        timeout: Duration = .seconds(5), cancellation: Cancellation? = nil
    ) throws(LinkError) -> [ReaderStatus] {
        try PCSCService.shared().readers(.after(timeout, cancellation: cancellation))
    }

    /// Powers the card in a reader and connects to it; nothing is sent to the card.
    ///
    /// - Throws: `noReader`, `unknownReader`, `noCard`, `unresponsive`, `busy` with the programs that are connected to
    /// the service, `accessDenied`, the failure of the service, `timedOut`, or `cancelled`.
    public static func connect(
        reader: String, share: Share = .shared, deadline: Deadline
    ) throws(LinkError) -> sending any CardLink {
        try PCSCService.shared().connect(reader: reader, share: share, deadline: deadline)
    }

    /// The other programs connected to the service, as far as visible to this user; the service does not report which
    /// of them uses which card.
    package static func clients() -> [LinkError.Holder] { (try? PCSCService.shared().holders()) ?? [] }

    /// Reports readers and cards being added and removed, starting with those already present, until the stream is no
    /// longer read. When the service stops, the stream reports it and continues once the service is back.
    public static func watch() -> AsyncStream<ReaderEvent> {
        do { return try PCSCService.shared().watch() } catch {
            return AsyncStream { stream in
                stream.yield(.interrupted(error))
                stream.finish()
            }
        }
    }
}

extension PCSC.Share {
    var code: UInt { self == .exclusive ? 1 : 2 }
}

extension PCSC {
    /// The USB bus and address of a reader, as reported by its driver (SCARD_ATTR_CHANNEL_ID, PC/SC part 3 §3.1.9: 0020
    /// for USB, then bus and address). The card is neither powered nor accessed; `nil` when the driver does not report
    /// it, or the reader is in exclusive use.
    static func usbAddress(of reader: String, timeout: Duration) -> (bus: Int, address: Int)? {
        guard let service = try? PCSCService.shared() else { return nil }
        let channel = try? service.run("the location of a reader", .after(timeout)) { session throws(PCSCFailure) in
            try session.channel(of: reader)
        }
        return channel.flatMap { $0 }.flatMap(address)
    }

    /// Reads the attribute: the number of a channel, in the machine's byte order.
    static func address(_ channel: UInt32) -> (bus: Int, address: Int)? {
        guard channel >> 16 == 0x0020 else { return nil }
        return (Int(channel >> 8 & 0xFF), Int(channel & 0xFF))
    }
}

extension PCSCSession {
    /// SCARD_ATTR_CHANNEL_ID.
    private static let channelID: DWORD = 0x0002_0110
    /// SCARD_SHARE_DIRECT: a connection to the reader, not to the card.
    private static let direct: DWORD = 3

    /// The channel of a reader; `nil` when its driver does not report it.
    func channel(of reader: String) throws(PCSCFailure) -> UInt32? {
        try withContext { context throws(PCSCFailure) in
            var handle: SCARDHANDLE = 0
            var active: DWORD = 0
            try PCSCFailure.check(library.connect(context, reader, Self.direct, 0, &handle, &active), .connect)
            defer { _ = library.disconnect(handle, Disposition.leave.rawValue) }
            var value = [UInt8](repeating: 0, count: 8)
            var length = DWORD(value.count)
            guard PCSCCode(library.attribute(handle, Self.channelID, &value, &length)) == .success, length >= 4
            else { return nil }
            return (0..<4).reduce(0) { $0 | UInt32(value[$1]) << (8 * $1) }
        }
    }
}

extension PCSC {
    /// Waits until the readers or their cards differ from `known`, and lists them; returns at once if they already
    /// differ.
    ///
    /// - Throws: The failure of the service, `timedOut`, or `cancelled`.
    public static func readers(
        otherThan known: [ReaderStatus], deadline: Deadline
    ) throws(LinkError) -> [ReaderStatus] {
        try PCSCService.shared().readers(otherThan: known, deadline)
    }
}

extension PCSCService {
    /// The duration of one wait call to the service, in milliseconds; a change missed just before is noticed after it
    /// (``ReaderWatch``).
    private static let slice: Int32 = 500

    /// Waits for other readers, or for something else in them.
    func readers(otherThan known: [ReaderStatus], _ deadline: Deadline) throws(LinkError) -> [ReaderStatus] {
        let wait = ReaderWait(library)
        // The caller may have stopped waiting: then the call to the service ends as well.
        defer { wait.stop() }
        return try run("a change of the readers", deadline) { session throws(PCSCFailure) in
            var now = try session.readers()
            while now.map(\.status) == known, !deadline.isOver, !wait.isStopped {
                let slice = DWORD(deadline.milliseconds(limit: Self.slice))
                do throws(PCSCFailure) { _ = try wait.states(of: now, in: session, milliseconds: slice) } catch {
                    // The reader was removed before the wait began.
                    guard error.code.meansRemoved else { throw error }
                }
                now = try session.readers()
            }
            return now.map(\.status)
        }
    }
}
