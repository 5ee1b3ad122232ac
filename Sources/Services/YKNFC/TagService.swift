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

/// The content of a tag, read in one operation.
public struct TagContent: Hashable, Sendable {
    /// The tag's capability container.
    public let capabilities: CapabilityContainer
    /// The bytes of its message; empty if it has none.
    public let bytes: [UInt8]

    /// Decodes the message; `nil` if there is none. Throws if the bytes are not a message.
    public func message() throws(WireError) -> NDEFMessage? {
        bytes.isEmpty ? nil : try NDEFMessage(decoding: bytes)
    }
}

/// Why a tag could not be read.
public enum TagError: Error, Hashable, Sendable {
    /// The exchange failed, or ended with a status word that has no meaning for tags.
    case card(CardError)
    /// The card is not a Type 4 tag: it has no NDEF application.
    case notATag
    /// The tag left the reader's field, or the key was unplugged, before it was read completely.
    case lost
    /// The tag requires a password or a key for reading; the byte says which (NFC Forum Type 4 Tag §5.1.2).
    case protected(access: UInt8)
    /// The tag's content is not a message.
    case malformed(WireError)
    /// The tag kept changing while it was read.
    case unsteady
}

extension TagError {
    /// Lifts a card error; a removed tag is always `lost`, whichever layer noticed it.
    init(_ error: CardError) {
        switch error {
        case .link(.removed): self = .lost
        case .appletMissing: self = .notATag
        default: self = .card(error)
        }
    }
}

extension TagError: CardCaused {
    /// The failure of the card or link, for `card`.
    public var cardCause: CardError? { if case .card(let error) = self { error } else { nil } }
}
