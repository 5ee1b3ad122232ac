// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKWire

/// The code that a token shows at a time.
public struct Tokencode: Hashable, Sendable {
    /// The code without a PIN.
    public let code: String
    /// The code of the next interval.
    public let next: String
    /// The remaining validity of the code, in whole seconds: 1 to the token's interval.
    public let remaining: Duration
    /// The end of the code's interval, in seconds since 1970.
    public let validTo: Int64
}

extension SecurIDToken {
    /// Returns the code at a time in seconds since 1970, with the PIN applied as the token's type requires.
    ///
    /// A PINPad token adds the PIN digit by digit without carry, a key fob puts it before the code, and a PINless token
    /// ignores it. Without a PIN, returns the plain code.
    ///
    /// - Throws: `pin` for an invalid PIN, and `expired` unless `allowsExpired`.
    public func tokencode(
        at time: Int64, pin: borrowing SecurIDPIN? = nil, allowsExpired: Bool = false
    ) throws(SecurIDError) -> Tokencode {
        guard time >= 0, time < Self.endOfTime else { throw .field("time") }
        if let expiry, !allowsExpired, isExpired(at: time) { throw .expired(serial: serial, expiry) }
        let seconds = interval.components.seconds
        let start = time - time % seconds
        let end = start + seconds
        let (code, next) = (try plainCode(at: time), try plainCode(at: end))
        let first: String
        let second: String
        switch pin {
        case .some(let pin):
            first = try pin.applied(to: code, type)
            second = try pin.applied(to: next, type)
        case .none: (first, second) = (code, next)
        }
        return Tokencode(code: first, next: second, remaining: .seconds(end - time), validTo: end)
    }

    /// The year 9999, in seconds since 1970.
    private static let endOfTime: Int64 = 253_370_764_800

    /// Returns the code from five AES-128 steps over year, month, day, hour and minutes. The last step yields the codes
    /// of four minutes, or of two minutes with one code per half minute.
    private func plainCode(at time: Int64) throws(SecurIDError) -> String {
        let date = UTCDate(seconds: time).parts
        let ofDay = Int(time % 86_400)
        let (hour, minute, second) = (ofDay / 3600, ofDay / 60 % 60, ofDay % 60)
        let isFast = interval == .seconds(30)
        let stem = minute - minute % (isFast ? 2 : 4)
        let moment = [date.year / 100, date.year % 100, date.month, date.day, hour, stem, 0, 0].map(Self.bcd)
        let serialPart = stride(from: 4, to: 12, by: 2).map { index in
            let digits = Array(serial.utf8)
            return (digits[index] & 15) << 4 | digits[index + 1] & 15
        }
        var key = seed.value.copyBytes()
        defer { Secret.wipe(&key) }
        for count in [2, 3, 4, 5, 8] {
            let head = Array(moment.prefix(count)) + [UInt8](repeating: 0xAA, count: 8 - count)
            let block = head + serialPart + [0xBB, 0xBB, 0xBB, 0xBB]
            do {
                let output = try BlockCipher.aes.encrypt(block, key: Secret(key))
                Secret.wipe(&key)
                key = output
            } catch { throw .crypto(error) }
        }
        let index = isFast ? 2 * (minute % 2) + (second >= 30 ? 1 : 0) : minute % 4
        let number = key[(4 * index)..<(4 * index + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let text = String(number)
        return String((String(repeating: "0", count: 10 - text.utf8.count) + text).suffix(digits))
    }

    /// Encodes two decimal digits in one byte (BCD).
    private static func bcd(_ number: Int) -> UInt8 { UInt8((number / 10) << 4 | number % 10) }
}

/// The PIN of a token's user, wiped when the value is destroyed.
public struct SecurIDPIN: ~Copyable, Sendable {
    private let secret: Secret

    /// Creates a PIN for a token type: 4 to 8 characters without spaces, digits only for a PINPad token, letters and
    /// digits for a key fob. A PINless token accepts anything.
    ///
    /// - Throws: `pin`.
    public init(_ secret: consuming Secret, for type: SecurIDTokenType) throws(SecurIDError) {
        if let rule = Self.brokenRule(secret, type) { throw .pin(rule) }
        self.secret = secret
    }

    private static func brokenRule(_ secret: borrowing Secret, _ type: SecurIDTokenType) -> SecurIDError.PINRule? {
        if type == .pinless { return nil }
        var bytes = secret.copyBytes()
        defer { Secret.wipe(&bytes) }
        guard (4...8).contains(bytes.count) else { return .length }
        if type == .pinpad { return bytes.allSatisfy(\.isDecimalDigit) ? nil : .digits }
        return bytes.allSatisfy(\.isLetterOrDigit) ? nil : .characters
    }

    func applied(to code: String, _ type: SecurIDTokenType) throws(SecurIDError) -> String {
        if let rule = Self.brokenRule(secret, type) { throw .pin(rule) }
        var pin = secret.copyBytes()
        defer { Secret.wipe(&pin) }
        switch type {
        case .pinless: return code
        case .keyfob: return String(decoding: pin, as: UTF8.self) + code
        case .pinpad:
            var digits = Array(code.utf8)
            for (place, digit) in zip(digits.indices.reversed(), pin.reversed()) {
                digits[place] = 0x30 + (digits[place] - 0x30 + digit - 0x30) % 10
            }
            return String(decoding: digits, as: UTF8.self)
        }
    }
}
