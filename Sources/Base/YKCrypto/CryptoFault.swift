// SPDX-License-Identifier: Apache-2.0

/// A primitive refused its input or failed to authenticate it. The text names the primitive and never the input.
public struct CryptoFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// Which primitive, and why.
    public let description: String

    /// Makes a fault.
    public init(_ description: String) { self.description = description }
}
