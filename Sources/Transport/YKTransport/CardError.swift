// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// Why an operation on a smart-card application failed.
public enum CardError: Error, Hashable, Sendable {
    /// The link below failed.
    case link(LinkError)
    /// The application is not on this card, or is switched off.
    case appletMissing(AID)
    /// The card ended the named command with a status word that is not a success.
    case status(StatusWord, during: String)
    /// The reply to the named command is not what the protocol says.
    case malformed(WireError, during: String)
    /// The card keeps announcing more data for the named command without end or without sending any.
    case endlessReply(during: String)
    /// The named command does not fit what the card or reader takes.
    case tooLong(during: String)
    /// The secure channel could not be opened, or ended.
    case secureChannel(SecureChannelFault)
}
