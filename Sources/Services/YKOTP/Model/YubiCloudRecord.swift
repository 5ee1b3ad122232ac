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

    /// `2026-11-21T10:20:30`, in UTC.
    static func date(_ time: Int64) -> String { UTCDate.timestamp(time, zone: "") }
}
