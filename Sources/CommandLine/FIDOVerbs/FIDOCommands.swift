// SPDX-License-Identifier: Apache-2.0

package import Arguments

/// The commands for FIDO.
package enum FIDOCommands {
    /// Their topics on the first screen.
    package static var topics: [CommandTopic] {
        [
            CommandTopic(
                "passkeys, fingerprints, two-step login; Arculus cards",
                [FIDO2Group.self, U2FGroup.self, ArculusGroup.self])
        ]
    }
}
