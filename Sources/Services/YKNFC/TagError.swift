// SPDX-License-Identifier: Apache-2.0

public import YKTransport
public import YKWire

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
