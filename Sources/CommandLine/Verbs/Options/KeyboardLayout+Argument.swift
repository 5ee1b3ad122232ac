// SPDX-License-Identifier: Apache-2.0

public import Arguments
public import YKWire

extension KeyboardLayout: ExpressibleByArgument {
    /// Parses the name, in upper or lower case.
    public init?(argument: String) { self.init(rawValue: argument.lowercased()) }
}
