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
        let software = CommandLine.arguments.contains("--virtual") ? VirtualKey.demonstration() : nil
        let key = try await (software.map { KeyRing(source: .virtual($0)) } ?? KeyRing()).only()
        if let software {
            try await program(key)
            software.layOnReader()
        }
        let tag = try await key.open(TagService.self)
        let message = try await tag.message()
        show(message.flatMap { OTPToken(in: $0) })
        await tag.close()
    }

    /// Programs the first slot, as the key in software comes with an empty one.
    private static func program(_ key: Key) async throws {
        let otp = try await key.open(OTPService.self)
        let privateID = SharedSecret(Secret([1, 2, 3, 4, 5, 6]))
        let aesKey = SharedSecret(Secret(SystemRandom().draw(16, secret: true)))
        try await otp.program(
            .one, .yubicoOTP(publicID: try Modhex.decode("vvccccccfikf"), privateID: privateID, key: aesKey))
        await otp.close()
    }

    private static func show(_ token: OTPToken?) {
        switch token?.kind {
        case .yubicoOTP(let otp)?: print("key \(Modhex.encode(otp.publicID)) gave \(token?.value ?? "")")
        case _?: print("password \(token?.value ?? "")")
        case nil: print("no password")
        }
    }
}
