// SPDX-License-Identifier: Apache-2.0

import YKCrypto
package import YKWire

/// A slot of the OTP application that is in use.
package struct VirtualOTPSlot: Hashable, Sendable {
    /// The configuration that was written; its access code protects the slot.
    package var record: OTPSlotRecord
    /// The number of sessions for Yubico OTP, the counter of the next code for HOTP.
    package var counter: UInt64

    init(_ record: OTPSlotRecord) {
        self.record = record
        let start = UInt64(record.identity[4]) << 8 | UInt64(record.identity[5])
        counter = 0
        if kind == .hotp { counter = start << 4 }
    }

    init(_ record: OTPSlotRecord, counter: UInt64) {
        self.record = record
        self.counter = counter
    }

    /// The type of a slot.
    enum Kind: Hashable {
        case yubicoOTP, staticTicket, scanCodes, hotp, challengeOTP, challengeHMAC
    }

    var kind: Kind {
        let flags = record.configuration
        if record.ticket.contains(.hotp) {
            if flags.contains(.challengeHMAC) { return .challengeHMAC }
            return flags.contains(.challengeOTP) ? .challengeOTP : .hotp
        }
        if flags.contains(.staticTicket) { return .staticTicket }
        return flags.contains(.shortTicket) ? .scanCodes : .yubicoOTP
    }

    /// Whether the slot types when touched.
    var isTyped: Bool { kind != .challengeOTP && kind != .challengeHMAC }
    /// Whether a challenge requires a touch.
    var wantsTouch: Bool { !isTyped && record.configuration.contains(.challengeTouch) }
    /// Whether the slot is dormant.
    var isDormant: Bool { record.extended.contains(.dormant) }

    /// Whether the slot can be changed with this access code; any code will do if none is set.
    func accepts(_ code: [UInt8]) -> Bool {
        record.accessCode == OTPSlotRecord.noAccessCode || record.accessCode == code
    }

    /// The 20-byte key of HMAC and HOTP.
    private var longKey: [UInt8] { record.key + record.identity.prefix(4) }

    /// The HMAC-SHA-1 of a 64-byte challenge. A slot for short challenges drops all trailing bytes equal to the last
    /// one.
    func hmac(_ challenge: [UInt8]) -> [UInt8] {
        var message = challenge[...]
        if record.configuration.contains(.shortChallenge), let filler = message.last {
            while message.last == filler { message.removeLast() }
        }
        return HashAlgorithm.sha1.hmac(key: Secret(longKey), Array(message))
    }

    /// The next HOTP code (RFC 4226 §5.3).
    mutating func hotpCode() -> String {
        let message = (0..<8).map { UInt8(truncatingIfNeeded: counter >> UInt64(56 - 8 * $0)) }
        counter &+= 1
        let mac = HashAlgorithm.sha1.hmac(key: Secret(longKey), message)
        let offset = Int(mac[19] & 0x0F)
        let number = mac[offset..<(offset + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        let digits = record.configuration.contains(.hotp8) ? 8 : 6
        let text = String(number % (digits == 8 ? 100_000_000 : 1_000_000))
        return String(repeating: "0", count: digits - text.utf8.count) + text
    }

    /// An encrypted block: six bytes of identity, use counter 2, timestamp 3, session use 1, random 2, CRC-16.
    func block(_ identity: [UInt8], uses: UInt16, time: UInt32, session: UInt8, random: [UInt8]) -> [UInt8] {
        var writer = ByteWriter(capacity: 16)
        writer.append(identity)
        writer.littleEndian(UInt64(uses), 2)
        writer.littleEndian(UInt64(time), 3)
        writer.byte(session)
        writer.append(random)
        let block = writer.bytes + CRC16.trailer(writer.bytes)
        return (try? BlockCipher.aes.encrypt(block, key: Secret(record.key))) ?? []
    }
}
