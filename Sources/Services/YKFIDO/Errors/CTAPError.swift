// SPDX-License-Identifier: Apache-2.0

public import YKTransport
public import YKWire

/// Why a command to the FIDO application failed.
public enum CTAPError: Error, Hashable, Sendable {
    /// The message or its answer did not get through.
    case link(FIDOLinkError)
    /// The key ended the named command with a status that is not a success.
    case status(CTAPStatus, during: String)
    /// The key ended the named U2F command with a status word that is not a success.
    case u2fStatus(StatusWord, during: String)
    /// The answer to the named command is not what the protocol says.
    case malformed(WireError, during: String)
    /// The named command is longer than the key takes.
    case tooLong(bytes: Int, limit: Int, during: String)

    /// The CTAP2 status, when that is what failed.
    public var status: CTAPStatus? { if case .status(let status, _) = self { status } else { nil } }
}
