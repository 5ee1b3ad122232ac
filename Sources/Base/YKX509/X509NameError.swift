// SPDX-License-Identifier: Apache-2.0

/// Why a string is not a distinguished name or an alternative name.
public struct X509NameError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason, in a few words.
    public let reason: String

    init(_ reason: String) { self.reason = reason }

    /// The reason.
    public var description: String { reason }
}
