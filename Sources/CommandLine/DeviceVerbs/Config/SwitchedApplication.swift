// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKManagement
import YKWire

/// An application name on the command line.
struct SwitchedApplication: ExpressibleByArgument, Hashable {
    let capability: Capability

    private static let names: [(String, Capability)] = [
        ("otp", .otp), ("u2f", .u2f), ("fido2", .fido2), ("oath", .oath), ("piv", .piv), ("openpgp", .openPGP),
        ("hsmauth", .hsmAuth),
    ]

    init?(argument: String) {
        guard let match = Self.names.first(where: { $0.0 == argument.lowercased() }) else { return nil }
        capability = match.1
    }

    static var allValueStrings: [String] { names.map(\.0) }
}

extension [SwitchedApplication] {
    /// The union of all capabilities.
    var capability: Capability { reduce(into: []) { $0.formUnion($1.capability) } }
}
