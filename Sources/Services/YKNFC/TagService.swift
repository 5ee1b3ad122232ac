// SPDX-License-Identifier: Apache-2.0

public import YKTransport
public import YKWire

/// A Type 4 tag, such as a security key on a contactless reader: reads what it sends to a phone.
///
/// Every method runs a whole exchange with the tag on the service's own thread; concurrent calls never interleave.
public actor TagService: CardKeyService {
    /// The runtime of the service.
    public nonisolated let runtime: ServiceRuntime
    private let session: TagSession

    private init(_ session: sending TagSession, _ runtime: ServiceRuntime) {
        self.session = session
        self.runtime = runtime
    }

    /// Selects the NDEF application (NFC Forum Type 4 Tag 2.0 §5.4.1).
    ///
    /// - Throws: `notATag` if there is none.
    public static func open(_ channel: sending CardChannel) async throws(TagError) -> TagService {
        let (runtime, session) = try await ServiceRuntime.open(card: channel, TagError.card) {
            channel throws(TagError) in try TagSession(channel)
        }
        return TagService(session, runtime)
    }

    /// The number of exchanges with the tag.
    public var statistics: ServiceStatistics { ServiceStatistics(exchanges: session.channel.exchanges) }

    /// The identity of the tag and the reader.
    public var identity: CardIdentity { session.channel.identity }

    /// Lets other programs use the tag until the next operation.
    public func rest() { session.channel.rest() }

    /// Closes the connection to the tag.
    public func close() { session.channel.close() }

    /// Reads the capability container (NFC Forum Type 4 Tag 2.0 §5.1).
    public func capabilities() throws(TagError) -> CapabilityContainer { try session.capabilities() }

    /// Reads capability container and message. A key that generates one-time passwords returns a new one on each read.
    ///
    /// - Throws: `lost` if the tag left the field, `protected`, `malformed` if a length is wrong, or `unsteady`.
    public func content() throws(TagError) -> TagContent { try session.content() }

    /// Reads the message; `nil` if the tag has none. Throws as ``content()`` does.
    public func message() throws(TagError) -> NDEFMessage? {
        let content = try session.content()
        return try lift(TagError.malformed) { () throws(WireError) in try content.message() }
    }
}
