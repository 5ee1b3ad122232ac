// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKInteraction
import YKOTP
import YKTransport
import YKWire

/// A slot's response to a challenge.
struct SlotResponse: Report {
    let slot: OTPSlot
    var response: [UInt8]?
    var code: String?

    static let members: [Member<SlotResponse>] = [
        Member("slot") { String($0.slot.rawValue) },
        Member("response", "in hexadecimal, null for a code") { $0.response.map { Hex.encode($0) } },
        Member("code") { $0.code },
    ]
}

/// Calculates a slot's response to a challenge.
struct OTPCalculate: Verb {
    static let about = About(
        "calculate", "Send a challenge to a slot and show its response.",
        discussion: """
            The challenge is in hexadecimal; '-' reads it from a line of standard input. With --totp it is the time, \
            and the response is a code.
            """,
        examples: [
            Example("ykit otp calculate 2 00010203", "Send four bytes to a challenge-response slot."),
            Example("ykit otp calculate 2 --totp", "Calculate a TOTP code with the slot's key."),
        ])

    @Argument("slot", help: "The slot, 1 or 2.", transform: OTPSlot.parse) var slot: OTPSlot

    @Argument("challenge", help: "The challenge, up to 64 bytes.", completion: .inputText) var challenge: String?

    @Flag(["-T", "--totp"], help: "Calculate a TOTP code.") var totp = false

    @Option(["--digits", "-d"], help: "Number of digits in a code: 6, 7 or 8.") var digits = 6

    @Option("--time <seconds>", help: "Show the code for this time, in seconds since 1970.") var time: Int64?

    @Option("--period", help: "How long a code is valid, in seconds.") var period: Int64 = 30

    @Flag("--yubico", help: "The slot answers with Yubico OTP blocks; the challenge has six bytes.") var yubico = false

    func check() throws {
        if totp, challenge != nil || yubico { throw UsageError("--totp cannot be combined with a challenge") }
        if !totp, challenge == nil { throw UsageError("give a challenge, or --totp") }
        if !(6...8).contains(digits) { throw UsageError("a code must have 6 to 8 digits") }
    }

    func run(in run: Run) async throws -> Outcome<SlotResponse> {
        let service = try await run.otp()
        let wait = await service.carrier == .card ? run.person.expectTouch(.required) : nil
        defer { wait?.end() }
        if totp {
            let code = try await service.code(slot, at: time ?? run.now, period: period, digits: digits)
            return Outcome(SlotResponse(slot: slot, code: code), code)
        }
        let bytes = try challengeBytes()
        let response = yubico ? try await service.challengeOTP(slot, bytes) : try await service.hmac(slot, bytes)
        return Outcome(SlotResponse(slot: slot, response: response), Hex.encode(response))
    }

    private func challengeBytes() throws -> [UInt8] {
        var text = challenge ?? ""
        if text == "-" { text = String(decoding: try SecretInput.line(from: 0).copyBytes(), as: UTF8.self) }
        guard let bytes = try? Hex.decode(text) else {
            throw Explanation.usage("the challenge is not hexadecimal", hint: "printf %s TEXT | xxd -p")
        }
        return bytes
    }
}
