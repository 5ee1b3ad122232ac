// SPDX-License-Identifier: Apache-2.0

package import TerminalIO

/// An application or a key that was reset.
package struct ResetReport: Report {
    package init() {}

    package static let members: [Member<ResetReport>] = [Member("reset") { _ in true }]
}
