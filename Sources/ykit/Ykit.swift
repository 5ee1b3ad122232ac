// SPDX-License-Identifier: Apache-2.0

import AccountVerbs
import ApprovalVerbs
import Arguments
import CardVerbs
import DeviceVerbs
import FIDOVerbs
import HostVerbs
import Verbs

/// The root of the command tree.
struct Ykit: ParsableCommand {
    static let about = About(
        program: "A toolkit for hardware security keys.",
        discussion: """
            Global options can be given anywhere on the command line. Without a key, try \
            'ykit --virtual oath list' or 'ykit --replay FILE --replay-mode lookup oath list'.
            """,
        version: Program.version,
        topics: DeviceCommands.first + applications + DeviceCommands.others)

    /// The commands for the applications of a key, and for what it opens.
    private static var applications: [CommandTopic] {
        [
            CommandTopic(
                "passkeys, fingerprints, two-step login; Arculus cards",
                [["fido2", "fido"]: FIDO2Group.self, "u2f": U2FGroup.self, "arculus": ArculusGroup.self]),
            CommandTopic("SSH keys and an agent; encrypted disks", ["ssh": SSHGroup.self, "luks": LUKSGroup.self]),
            CommandTopic(
                "one-time codes; codes and passwords on a Nitrokey 3",
                ["oath": OATHGroup.self, "secrets": SecretsGroup.self]),
            CommandTopic("what a key types: Yubico OTP, static, challenge-response", ["otp": OTPGroup.self]),
            CommandTopic(
                "encrypted files; SecurID software tokens, sealed by a key",
                ["age": AgeGroup.self, "securid": SecurIDGroup.self]),
            CommandTopic(
                "certificates, signatures, decryption; proof of hardware",
                ["piv": PIVGroup.self, "attest": AttestGroup.self]),
            CommandTopic("OpenPGP keys, as gpg uses them", ["openpgp": OpenPGPGroup.self]),
            CommandTopic(
                "YubiHSM credentials; keys of secure channels", ["hsmauth": HSMAuthGroup.self, "sd": SDGroup.self]),
            CommandTopic("what a key shows to a phone", ["nfc": NFCGroup.self]),
            CommandTopic(
                "approve or decline logins; second factors at privacyIDEA",
                ["approve": ApproveGroup.self, "2fa": SecondFactorGroup.self]),
        ]
    }
}
