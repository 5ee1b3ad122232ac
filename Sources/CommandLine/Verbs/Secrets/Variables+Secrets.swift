// SPDX-License-Identifier: Apache-2.0

package import TerminalIO

extension Variables {
    /// Whether a variable may hold a secret, and is therefore not inherited by other programs.
    @Sendable package static func mayHoldSecret(_ name: String) -> Bool {
        name.hasPrefix("YKIT_") && !HelpTopic.settings.contains(name)
    }
}
