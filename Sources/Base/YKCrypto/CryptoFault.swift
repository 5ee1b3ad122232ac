// SPDX-License-Identifier: Apache-2.0

/// Thrown when a primitive rejects its input or fails to authenticate it. The text names the primitive and never
/// contains the input.
public struct CryptoFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The primitive and the reason.
    public let description: String

    /// Creates a fault.
    public init(_ description: String) { self.description = description }
}
