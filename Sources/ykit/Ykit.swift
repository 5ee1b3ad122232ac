// SPDX-License-Identifier: Apache-2.0

import AccountVerbs
import ApprovalVerbs
import Arguments
import CardVerbs
import DeviceVerbs
import FIDOVerbs
import Verbs

/// The root of the command tree.
struct Ykit: ParsableCommand {
    static let about = About(
        "ykit",
        "A toolkit for hardware security keys.",
        discussion: """
            Global options can be given anywhere on the command line. Without a key, try \
            'ykit --virtual oath list' or 'ykit --replay FILE --replay-mode lookup oath list'.
            """,
        version: Program.version,
        subcommands: [
            DeviceCommands.list,
            DeviceCommands.info,
            DeviceCommands.setup,
            DeviceCommands.compare,
            DeviceCommands.inventory,
            DeviceCommands.apdu,
            AccountCommands.oath,
            FIDOCommands.fido2,
            FIDOCommands.u2f,
            CardCommands.piv,
            AccountCommands.otp,
            FIDOCommands.ssh,
            AccountCommands.age,
            CardCommands.hsmauth,
            CardCommands.openpgp,
            CardCommands.sd,
            CardCommands.nfc,
            DeviceCommands.config,
            FIDOCommands.arculus,
            AccountCommands.securid,
            ApprovalCommands.approve,
            ApprovalCommands.secondFactor,
            DeviceCommands.bridge,
            DeviceCommands.doctor,
            DeviceCommands.udevRules,
            DeviceCommands.capture,
            DeviceCommands.virtual,
            DeviceCommands.qr,
            Completion.command,
            DeviceCommands.schema,
            DeviceCommands.generate,
            DeviceCommands.clearClipboard,
        ])
}
