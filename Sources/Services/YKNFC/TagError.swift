// SPDX-License-Identifier: Apache-2.0

public import YKTransport
public import YKWire

/// Why a tag could not be read.
public enum TagError: Error, Hashable, Sendable {
    /// The exchange failed, or ended with a status word that means nothing special here.
    case card(CardError)
    /// What is in the reader is not a Type 4 tag: it has no NDEF application.
    case notATag
    /// The tag left the reader's field, or the key was pulled out, before it was read to the end.
    case lost
    /// The tag asks for a password or a key before it is read; the byte says which (NFC Forum Type 4 Tag §5.1.2).
    case protected(access: UInt8)
    /// What is on the tag is not a message.
    case malformed(WireError)
    /// The tag changed again and again while it was read.
    case unsteady
}

extension TagError {
    /// Lifts what went wrong below; a tag that went away is one thing, whatever noticed it.
    init(_ error: CardError) {
        switch error {
        case .link(.removed): self = .lost
        case .appletMissing: self = .notATag
        default: self = .card(error)
        }
    }
}
