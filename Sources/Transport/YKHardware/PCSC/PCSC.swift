// SPDX-License-Identifier: Apache-2.0

public import YKTransport

/// Smart cards through the smart card service (pcscd).
public enum PCSC {
    /// How a card is taken (PC/SC part 5 §3.2.5).
    public enum Share: Sendable, Hashable {
        /// Other programs may be connected too; each keeps the others off while it needs the card.
        case shared
        /// No other program may be connected.
        case exclusive
    }

    /// Lists the readers and what is in them; empty without any.
    ///
    /// Throws why the service cannot be used, `timedOut`, or `cancelled`.
    public static func readers(
        timeout: Duration = .seconds(5), cancellation: Cancellation? = nil
    ) throws(LinkError) -> [ReaderStatus] {
        try PCSCService.shared().readers(.after(timeout, cancellation: cancellation))
    }

    /// Powers the card in a reader and connects to it; nothing is sent to the card.
    ///
    /// Throws `noReader`, `unknownReader`, `noCard`, `unresponsive`, `busy` with the programs that are connected to the
    /// service, `accessDenied`, why the service cannot be used, `timedOut`, or `cancelled`.
    public static func connect(
        reader: String, share: Share = .shared, deadline: Deadline
    ) throws(LinkError) -> sending any CardLink {
        try PCSCService.shared().connect(reader: reader, share: share, deadline: deadline)
    }

    /// The other programs that are connected to the service, as far as this user may know; which of them has which card
    /// the service does not tell.
    package static func clients() -> [LinkError.Holder] { (try? PCSCService.shared().holders()) ?? [] }

    /// Tells of readers and cards that come and go, beginning with those that are there, until the stream is no longer
    /// read. When the service goes away the stream says so and goes on when it is back.
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
