// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs

/// Commands for the configuration of a key's applications.
struct ConfigGroup: ParsableCommand {
    static let about = About(
        "config", "Enable and disable applications of a YubiKey, and lock that choice.",
        subcommands: [ConfigUSB.self, ConfigNFC.self, ConfigLockCode.self, ConfigMode.self, ConfigReset.self],
        examples: [Example("ykit config usb --disable otp")])
}
