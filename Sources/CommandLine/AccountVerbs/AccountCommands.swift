// SPDX-License-Identifier: Apache-2.0

package import Arguments

/// The commands for accounts, codes and files.
package enum AccountCommands {
    package static var oath: any Command.Type { OATHGroup.self }
    package static var otp: any Command.Type { OTPGroup.self }
    package static var age: any Command.Type { AgeGroup.self }
    package static var securid: any Command.Type { SecurIDGroup.self }
}
