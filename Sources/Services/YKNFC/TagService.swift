// SPDX-License-Identifier: Apache-2.0

public import YKTransport
public import YKWire

/// A Type 4 tag, such as a security key at a contactless reader: reads what it tells a telephone.
///
/// Every method runs a whole exchange with the tag on a thread of its own; two callers never mix on the card.
public actor TagService {
    private let thread: ServiceThread
    private let session: TagSession

    /// The thread the tag is talked to on.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    private init(_ session: sending TagSession, on thread: ServiceThread) {
        self.session = session
        self.thread = thread
    }

    /// Selects the NDEF application (NFC Forum Type 4 Tag 2.0 §5.4.1).
    ///
    /// Throws `notATag` when there is none.
    public static func open(_ channel: sending CardChannel) async throws(TagError) -> TagService {
        let thread: ServiceThread
        do { thread = try ServiceThread() } catch { throw .card(.link(error)) }
        return TagService(try TagSession(channel), on: thread)
    }

    /// How many exchanges were made with the tag.
    public var exchanges: Int { session.channel.exchanges }

    /// What is known of the tag and the reader.
    public var identity: CardIdentity { session.channel.identity }

    /// Lets other programs use the tag until the next operation.
    public func rest() { session.channel.rest() }

    /// Reads the capability container (NFC Forum Type 4 Tag 2.0 §5.1).
    public func capabilities() throws(TagError) -> CapabilityContainer { try session.capabilities() }

    /// Reads capability container and message. On a key that makes one-time passwords each reading gives another one.
    ///
    /// Throws `lost` when the tag left the field, `protected`, `malformed` when a length lies, or `unsteady`.
    public func content() throws(TagError) -> TagContent { try session.content() }

    /// Reads the message; `nil` when the tag has none. Throws as ``content()`` does.
    public func message() throws(TagError) -> NDEFMessage? {
        let content = try session.content()
        return try lift(TagError.malformed) { () throws(WireError) in try content.message() }
    }
}
