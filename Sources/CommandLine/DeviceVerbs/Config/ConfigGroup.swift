// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs

/// Commands for the configuration of a key's applications.
struct ConfigGroup: ParsableCommand {
    static let about = About(
        "config", "Enable or disable applications of a YubiKey, and protect that with a lock code.",
        subcommands: [ConfigUSB.self, ConfigNFC.self, ConfigLockCode.self, ConfigMode.self, ConfigReset.self],
        examples: [Example("ykit config usb --disable otp")])
}
