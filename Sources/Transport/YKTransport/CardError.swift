// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// Why an operation on a smart-card application failed.
public enum CardError: Error, Hashable, Sendable {
    /// The link below failed.
    case link(LinkError)
    /// The application is not on this card, or is disabled.
    case appletMissing(AID)
    /// The card answered the named command with a status word other than success.
    case status(StatusWord, during: String)
    /// The reply to the named command violates the protocol.
    case malformed(WireError, during: String)
    /// The card announces more data for the named command without end, or without sending any.
    case endlessReply(during: String)
    /// The named command is too long for the card or reader.
    case tooLong(during: String)
    /// The secure channel could not be opened, or ended.
    case secureChannel(SecureChannelFault)
}
