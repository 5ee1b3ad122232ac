// SPDX-License-Identifier: Apache-2.0

package import Arguments

/// The commands for cards.
package enum CardCommands {
    /// Their topics on the first screen.
    package static var topics: [CommandTopic] {
        [
            CommandTopic("certificates, signatures, decryption; proof of hardware", [PIVGroup.self, AttestGroup.self]),
            CommandTopic("OpenPGP keys, as gpg uses them", [OpenPGPGroup.self]),
            CommandTopic("YubiHSM credentials; keys of secure channels", [HSMAuthGroup.self, SDGroup.self]),
            CommandTopic("what a key shows to a phone", [NFCGroup.self]),
        ]
    }
}
