// SPDX-License-Identifier: Apache-2.0

package import TerminalIO

/// A PIN, a PUK or a password that was changed.
package struct CredentialChange: Report {
    package init() {}

    package static let members: [Member<CredentialChange>] = [Member("changed") { _ in true }]
}

/// A PIN that the key accepted.
package struct PINVerifiedReport: Report {
    package init() {}

    package static let members: [Member<PINVerifiedReport>] = [Member("verified") { _ in true }]
}
