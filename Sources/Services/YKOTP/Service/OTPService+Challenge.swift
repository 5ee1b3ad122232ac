// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

extension OTPService {
    /// Returns the HMAC-SHA-1 of a challenge of up to 64 bytes, 20 bytes.
    ///
    /// A slot that accepts short challenges drops all trailing bytes equal to the last of 64: shorter challenges are
    /// padded so that nothing of them is lost, but one of 64 bytes loses at least its last. Other slots take 64 bytes,
    /// including trailing zeros.
    public func hmac(_ slot: OTPSlot, _ challenge: [UInt8]) throws(OTPError) -> [UInt8] {
        try checkChallenge(slot, challenge, 0...Self.hmacChallengeSize)
        let filler: UInt8 = challenge.last == 0 ? 1 : 0
        let padding = [UInt8](repeating: filler, count: Self.hmacChallengeSize - challenge.count)
        return try query(slot.command(.challengeHMAC1, .challengeHMAC2), challenge + padding, .bytes(20))
    }

    /// Returns the code of six to eight digits for a slot with the key of a TOTP account at a given time (RFC 6238 §4).
    public func code(
        _ slot: OTPSlot, at time: Int64, period: Int64 = 30, digits: Int = 6
    ) throws(OTPError) -> String {
        guard period > 0, time >= 0 else { throw .invalid(.length("period", expected: 1...Int(Int32.max), is: 0)) }
        guard (6...8).contains(digits) else { throw .invalid(.length("code", expected: 6...8, is: digits)) }
        var writer = ByteWriter(capacity: 8)
        writer.bigEndian(UInt64(time / period), 8)
        return Self.truncated(try hmac(slot, writer.bytes), digits: digits)
    }

    /// Returns the Yubico OTP block for a challenge of six bytes: 16 bytes, whose first six are the challenge after
    /// decryption.
    public func challengeOTP(_ slot: OTPSlot, _ challenge: [UInt8]) throws(OTPError) -> [UInt8] {
        try checkChallenge(slot, challenge, 6...6)
        return try query(slot.command(.challengeOTP1, .challengeOTP2), challenge, .bytes(16))
    }

    /// Maximum length of an HMAC challenge, in bytes.
    public static let hmacChallengeSize = 64

    /// The decimal digits of an HMAC (RFC 4226 §5.3).
    public static func truncated(_ hmac: [UInt8], digits: Int) -> String {
        let offset = Int((hmac.last ?? 0) & 0x0F)
        let number = hmac.dropFirst(offset).prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        let modulus = (0..<min(9, max(1, digits))).reduce(UInt32(1)) { value, _ in value * 10 }
        let text = String(number % modulus)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }

    private func checkChallenge(
        _ slot: OTPSlot, _ challenge: [UInt8], _ expected: ClosedRange<Int>
    ) throws(OTPError) {
        try require(.challengeResponse)
        guard expected.contains(challenge.count) else {
            throw .invalid(.length("challenge", expected: expected, is: challenge.count))
        }
        let state = state(of: slot)
        guard state.isProgrammed != false else { throw .emptySlot(slot) }
        guard state.isTouchTriggered != true else { throw .notChallengeResponse(slot) }
    }
}
