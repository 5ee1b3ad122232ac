// SPDX-License-Identifier: Apache-2.0

import Arguments

/// The root of the command tree.
struct Ykit: ParsableCommand {
    static let about = About(
        "ykit",
        "A toolkit for hardware security keys.",
        discussion: """
            Global options stand anywhere on the line. Without a key, try \
            'ykit --virtual oath list' or 'ykit --replay FILE --replay-mode lookup oath list'.
            """,
        version: Program.version,
        subcommands: [
            List.self,
            Info.self,
            APDUCommand.self,
            OATHGroup.self,
            FIDO2Group.self,
            U2FGroup.self,
            PIVGroup.self,
            OTPGroup.self,
            SSHGroup.self,
            AgeGroup.self,
            HSMAuthGroup.self,
            OpenPGPGroup.self,
            SDGroup.self,
            NFCGroup.self,
            ConfigGroup.self,
            ArculusGroup.self,
            SecurIDGroup.self,
            ApproveGroup.self,
            SecondFactorGroup.self,
            Doctor.self,
            UDevRules.self,
            CaptureGroup.self,
            VirtualGroup.self,
            Completion.self,
            GenerateGroup.self,
            ClearClipboard.self,
        ])
}
