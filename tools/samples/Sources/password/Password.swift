// SPDX-License-Identifier: Apache-2.0

import YKit

/// Prints the one-time password that a key gives over NFC, or that it types on standard input with `--typed`.
@main
struct Password {
    static func main() async throws {
        if CommandLine.arguments.contains("--typed") {
            print("touch the key")
            show(readLine().flatMap { OTPToken(typed: $0) })
            return
        }
        let isVirtual = CommandLine.arguments.contains("--virtual")
        let key = try await (isVirtual ? Keys(source: .virtual(.demonstration())) : Keys()).only()
        let tag = try await key.open(TagService.self)
        let message = try await tag.message()
        show(message.flatMap { OTPToken(in: $0) })
        await tag.close()
    }

    private static func show(_ token: OTPToken?) {
        switch token?.kind {
        case .yubicoOTP(let otp)?: print("key \(Modhex.encode(otp.publicID)) gave \(token?.value ?? "")")
        case _?: print("password \(token?.value ?? "")")
        case nil: print("no password")
        }
    }
}
