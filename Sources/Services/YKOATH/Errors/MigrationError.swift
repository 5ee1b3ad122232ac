// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// Why a string is not an `otpauth-migration://` export.
public enum MigrationError: Error, Hashable, Sendable {
    /// The prefix `otpauth-migration://offline?data=` is missing.
    case notMigration
    /// The data is not percent-encoded base64.
    case badBase64(WireError)
    /// The payload is not a valid migration message.
    case malformed(WireError)
    /// An account of the payload cannot be used: its index, from 0, and why.
    case account(Int, OtpauthError)
}
