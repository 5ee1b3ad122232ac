// SPDX-License-Identifier: Apache-2.0

package import Arguments

/// The commands for logins.
package enum ApprovalCommands {
    /// Their topics on the first screen.
    package static var topics: [CommandTopic] {
        [
            CommandTopic(
                "approve or decline logins; second factors at privacyIDEA", [ApproveGroup.self, SecondFactorGroup.self])
        ]
    }
}
