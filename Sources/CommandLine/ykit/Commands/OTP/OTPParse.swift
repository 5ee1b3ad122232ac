// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKToken
import YKWire

/// Identifies the kind of password that a key typed.
struct OTPParse: Verb {
    static let about = About(
        "parse", "Show what a one-time password that a key typed consists of.",
        discussion: "Without an argument the password is read from the terminal: touch the key. Nothing is checked.",
        members: ["token"])

    @Argument(help: "The password, or - for a line of standard input.") var password: String?

    func answer(in world: World) throws -> Answer {
        let token = try TypedToken.read(password)
        return Answer(Self.lines(token), ["token": token.json])
    }

    private static func lines(_ token: OTPToken) -> [String] {
        var rows = [["password", token.value.printable], ["kind", token.words]]
        switch token.kind {
        case .yubicoOTP(let otp):
            rows.append(["public id", "\(Modhex.encode(otp.publicID)) (\(Hex.encode(otp.publicID)))"])
            rows.append(["block", Hex.encode(otp.ciphertext)])
        case .hotp(let identifier, let code):
            if let identifier { rows.append(["token", identifier.printable]) }
            rows.append(["code", code])
        case .fixed: break
        }
        return Table.lines(rows)
    }
}
