// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKWire

/// A Yubico OTP credential in the format of Yubico's servers: a line of a CSV file.
public struct YubiCloudRecord: Sendable {
    /// The serial number of the key.
    public var serial: UInt32
    /// The public identity.
    public var publicID: [UInt8]
    /// The private identity, six bytes.
    public var privateID: SharedSecret
    /// The AES key, 16 bytes.
    public var key: SharedSecret
    /// The slot's access code.
    public var accessCode: OTPAccessCode?
    /// When the slot was written, in seconds since 1970; written in UTC.
    public var time: Int64

    /// Creates a record.
    public init(
        serial: UInt32, publicID: [UInt8], privateID: SharedSecret, key: SharedSecret, accessCode: OTPAccessCode?,
        time: Int64
    ) {
        self.serial = serial
        self.publicID = publicID
        self.privateID = privateID
        self.key = key
        self.accessCode = accessCode
        self.time = time
    }

    /// Serial number, public identity in modhex, private identity, key and access code in hexadecimal, date; a trailing
    /// comma, and no line end. It is a secret.
    public var line: Secret {
        var fields = [
            String(serial), Modhex.encode(publicID), hex(privateID.value), hex(key.value),
            accessCode.map { hex($0.secret.value) } ?? "", Self.date(time), "",
        ]
        defer { fields.removeAll() }
        return Secret(utf8: fields.joined(separator: ","))
    }

    private func hex(_ secret: borrowing Secret) -> String { secret.withBytes { Hex.encode($0) } }

    /// `2026-11-21T10:20:30`, in the Gregorian calendar.
    static func date(_ time: Int64) -> String {
        let (days, seconds) = (time.floored(86_400), time - time.floored(86_400) * 86_400)
        let shifted = days + 719_468
        let era = shifted.floored(146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * month + 2) / 5 + 1
        let calendarMonth = month < 10 ? month + 3 : month - 9
        let year = yearOfEra + era * 400 + (calendarMonth <= 2 ? 1 : 0)
        let clock = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { $0.padded(2) }
        let calendar = "\(year.padded(4))-\(calendarMonth.padded(2))-\(day.padded(2))"
        return calendar + "T" + clock.joined(separator: ":")
    }
}

extension Int64 {
    fileprivate func floored(_ divisor: Int64) -> Int64 { self / divisor - (self % divisor < 0 ? 1 : 0) }

    fileprivate func padded(_ width: Int) -> String {
        let text = String(self)
        return String(repeating: "0", count: Swift.max(0, width - text.utf8.count)) + text
    }
}
