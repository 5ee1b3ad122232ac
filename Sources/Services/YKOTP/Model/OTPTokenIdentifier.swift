// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKTransport
public import YKWire

/// The token identifier that an HOTP slot types before each code (OATH Token Identifier Specification): two characters
/// of the manufacturer, two of the token type, eight of the individual token; each in digits or, from the front on, in
/// modhex.
public struct OTPTokenIdentifier: Sendable, Hashable {
    /// The six bytes.
    package let bytes: [UInt8]
    /// Which of them are typed in modhex.
    let flags: OTPConfigurationFlags

    /// Yubico's manufacturer and token type.
    public static let yubico = "ubhe"

    /// Parses twelve characters. With four, `serial` supplies the rest in digits; with eight, Yubico's prefix is added.
    public init(_ text: String, serial: UInt32?) throws(OTPError) {
        var whole = text
        if text.utf8.count == 4, let serial {
            let digits = String(serial % 100_000_000)
            whole += String(repeating: "0", count: 8 - digits.utf8.count) + digits
        } else if text.utf8.count == 8 {
            whole = Self.yubico + text
        }
        let letters = Array(whole.utf8)
        guard letters.count == 12 else {
            throw .invalid(.length("token identifier", expected: 12...12, is: letters.count))
        }
        let parts = [letters[0..<2], letters[2..<4], letters[4..<12]].map { String(decoding: $0, as: UTF8.self) }
        var bytes: [UInt8] = []
        var inModhex: [Bool] = []
        for part in parts {
            let digits = part.utf8.allSatisfy { 48...57 ~= $0 } ? try? Hex.decode(part) : nil
            guard let value = digits ?? (try? Modhex.decode(part)) else { throw .invalid(.identifier) }
            bytes += value
            inModhex.append(digits == nil)
        }
        self.bytes = bytes
        switch (inModhex[0], inModhex[1], inModhex[2]) {
        case (false, false, false): flags = []
        case (true, false, false): flags = .fixedModhex1
        case (true, true, false): flags = .fixedModhex2
        case (true, true, true): flags = [.fixedModhex1, .fixedModhex2]
        default: throw .invalid(.identifier)
        }
    }
}

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

/// The six-byte access code that a slot requires before it is changed. All zeros means no code.
public struct OTPAccessCode: Sendable {
    let secret: SharedSecret

    /// Creates a code from six bytes; throws for any other length.
    public init(_ bytes: consuming Secret) throws(OTPError) {
        guard bytes.count == OTPSlotRecord.accessCodeSize else {
            throw .invalid(.length("access code", expected: 6...6, is: bytes.count))
        }
        secret = SharedSecret(bytes)
    }

    /// The six bytes; zeros if there is no code.
    static func bytes(_ code: OTPAccessCode?) -> [UInt8] {
        code?.secret.value.copyBytes() ?? OTPSlotRecord.noAccessCode
    }

    /// Whether both are the same code.
    static func areSame(_ left: OTPAccessCode?, _ right: OTPAccessCode?) -> Bool {
        constantTimeEqual(bytes(left), bytes(right))
    }
}

/// The current and the new access code of a slot.
public struct OTPAccess: Sendable {
    /// The slot's current code.
    public let current: OTPAccessCode?
    /// The slot's new code.
    public let new: OTPAccessCode?

    /// A slot without a code, before and after.
    public static let none = OTPAccess(current: nil, new: nil)

    /// A slot that keeps its code, if it has one.
    public static func keeping(_ code: OTPAccessCode?) -> OTPAccess { OTPAccess(current: code, new: code) }

    /// A slot whose code is set, changed, or removed.
    public init(current: OTPAccessCode?, new: OTPAccessCode?) {
        self.current = current
        self.new = new
    }
}

extension KeyboardLayout {
    /// A password of the layout's characters, uniformly distributed.
    public func password(length: Int, random: any RandomSource) throws(OTPError) -> Secret {
        guard (1...OTPSlotContent.scanCodeLimit).contains(length) else {
            throw .invalid(.length("static password", expected: 1...OTPSlotContent.scanCodeLimit, is: length))
        }
        let characters = visibleCharacters
        // Rejects bytes above the last whole multiple, which would make the first characters more likely.
        let limit = 256 - 256 % characters.count
        var text = ""
        while text.count < length {
            var bytes = try lift(OTPError.device) { () throws(LinkError) in try random.draw(64, secret: true) }
            defer { Secret.wipe(&bytes) }
            for byte in bytes where Int(byte) < limit && text.count < length {
                text.append(characters[Int(byte) % characters.count])
            }
        }
        return Secret(utf8: text)
    }
}
