// SPDX-License-Identifier: Apache-2.0

/// Why bytes could not be read as the format they claim to be.
public struct WireError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of fault, for programs to compare.
    public enum Code: String, Hashable, Sendable {
        /// The input ended before the value did.
        case truncated
        /// The value ended before the input did.
        case trailing
        /// The bytes are not a value of this format.
        case malformed
        /// A length or count is above the limit for this format.
        case tooLarge
        /// Values are nested deeper than the limit for this format.
        case tooDeep
        /// A required field is missing.
        case missing
        /// A field occurs twice.
        case duplicate
    }

    /// The kind of fault.
    public let code: Code
    /// Where the fault was detected, in bytes from the start of the outermost input.
    public let offset: Int
    /// What was expected and what was found, in a few words.
    public let reason: String

    /// Creates an error; `offset` counts bytes from the start of the outermost input.
    public init(_ code: Code, at offset: Int, _ reason: String) {
        self.code = code
        self.offset = offset
        self.reason = reason
    }

    /// The reason and the offset, for display.
    public var description: String { "\(reason) at byte \(offset)" }
}

/// Runs `body` and lifts its error into the error of the layer above.
package func lift<Value, Lower: Error, Upper: Error>(
    _ wrap: (Lower) -> Upper, _ body: () throws(Lower) -> Value
) throws(Upper) -> Value {
    do { return try body() } catch { throw wrap(error) }
}
