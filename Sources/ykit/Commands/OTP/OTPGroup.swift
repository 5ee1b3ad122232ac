// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// Verbs on the Yubico OTP application.
struct OTPGroup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "otp", abstract: "Yubico OTP: the two slots of a key, and the tokens they make.",
        subcommands: [OTPParse.self, OTPVerify.self])
}
