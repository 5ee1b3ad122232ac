// SPDX-License-Identifier: Apache-2.0

package import Arguments

/// The commands for FIDO and SSH.
package enum FIDOCommands {
    package static var fido2: any Command.Type { FIDO2Group.self }
    package static var u2f: any Command.Type { U2FGroup.self }
    package static var ssh: any Command.Type { SSHGroup.self }
    package static var arculus: any Command.Type { ArculusGroup.self }
}
