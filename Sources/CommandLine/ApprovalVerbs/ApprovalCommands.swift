// SPDX-License-Identifier: Apache-2.0

package import Arguments

/// The commands for logins.
package enum ApprovalCommands {
    package static var approve: any Command.Type { ApproveGroup.self }
    package static var secondFactor: any Command.Type { SecondFactorGroup.self }
}
