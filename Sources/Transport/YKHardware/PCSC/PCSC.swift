// SPDX-License-Identifier: Apache-2.0

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
