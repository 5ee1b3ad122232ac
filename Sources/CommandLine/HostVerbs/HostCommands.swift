// SPDX-License-Identifier: Apache-2.0

package import Arguments

/// The commands for what a key opens on a computer.
package enum HostCommands {
    /// Their topics on the first screen.
    package static var topics: [CommandTopic] {
        [CommandTopic("SSH keys and an agent; encrypted disks", [SSHGroup.self, LUKSGroup.self])]
    }
}
