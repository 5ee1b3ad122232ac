// SPDX-License-Identifier: Apache-2.0

package import Arguments

/// The commands for accounts, codes and files.
package enum AccountCommands {
    /// Their topics on the first screen.
    package static var topics: [CommandTopic] {
        [
            CommandTopic("one-time codes; codes and passwords on a Nitrokey 3", [OATHGroup.self, SecretsGroup.self]),
            CommandTopic("what a key types: Yubico OTP, static, challenge-response", [OTPGroup.self]),
            CommandTopic(
                "encrypted files; SecurID software tokens, sealed by a key", [AgeGroup.self, SecurIDGroup.self]),
        ]
    }
}
