// SPDX-License-Identifier: Apache-2.0

public import YKTransport
public import YKWire

/// Why a CTAP2 or U2F command failed.
public enum CTAPError: Error, Hashable, Sendable {
    /// The message or its response was not transmitted.
    case link(FIDOLinkError)
    /// The key answered the named command with an error status.
    case status(CTAPStatus, during: String)
    /// The key answered the named U2F command with an error status word.
    case u2fStatus(StatusWord, during: String)
    /// The response to the named command violates the protocol.
    case malformed(WireError, during: String)
    /// The named command is longer than the key accepts.
    case tooLong(bytes: Int, limit: Int, during: String)

    /// The CTAP2 status, for ``status(_:during:)``.
    public var status: CTAPStatus? { if case .status(let status, _) = self { status } else { nil } }
}

extension CTAPError: CardCaused {
    /// The failure of the card or link, for ``link(_:)``.
    public var cardCause: CardError? { if case .link(let error) = self { error.cardCause } else { nil } }
}
