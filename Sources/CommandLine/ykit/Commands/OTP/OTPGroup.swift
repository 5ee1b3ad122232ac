// SPDX-License-Identifier: Apache-2.0

import Arguments

/// Commands for the Yubico OTP application.
struct OTPGroup: ParsableCommand {
    static let about = About(
        "otp", "Yubico OTP: the two slots of a key, and the tokens they make.",
        subcommands: [
            OTPInfo.self, OTPSwap.self, OTPDelete.self, OTPYubiOTP.self, OTPStatic.self, OTPChalResp.self, OTPHOTP.self,
            OTPNDEF.self, OTPSettingsUpdate.self, OTPCalculate.self, OTPParse.self, OTPVerify.self,
        ])
}
