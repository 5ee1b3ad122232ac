// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// Why a text is not an `otpauth-migration://` export.
public enum MigrationError: Error, Hashable, Sendable {
    /// It does not begin with `otpauth-migration://offline?data=`.
    case notMigration
    /// The data are not percent-encoded base 64.
    case badBase64(WireError)
    /// The payload is not the message it should be.
    case malformed(WireError)
    /// An account of the payload cannot be used: its place, from 0, and why.
    case account(Int, OtpauthError)
}
