// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKWire

/// The contents of a slot with Yubico OTP, as tools that program slots write them.
public struct YubicoOTPKey: Sendable {
    /// The AES key, 16 bytes.
    public let key: SharedSecret
    /// The public identity, up to 16 bytes; `nil` if the text does not have it.
    public let publicID: [UInt8]?
    /// The private identity, 6 bytes; `nil` if the text does not have it.
    public let privateID: SharedSecret?

    /// Reads all keys of a text. The text is either a key in hexadecimal, or lines that contain a public identity in
    /// modhex, a private identity and a key in hexadecimal, separated by commas, semicolons or spaces.
    public static func all(in text: SharedSecret) -> [YubicoOTPKey] {
        var bytes = text.value.copyBytes()
        defer { Secret.wipe(&bytes) }
        return bytes.split { $0 == 0x0A || $0 == 0x0D }.compactMap { YubicoOTPKey($0) }
    }

    /// Returns the key for a password: the one with its public identity, or the only one.
    public static func matching(_ otp: YubicoOTP, among keys: [YubicoOTPKey]) -> YubicoOTPKey? {
        keys.first { $0.publicID == otp.publicID } ?? (keys.count == 1 ? keys.first : nil)
    }

    private init?(_ line: ArraySlice<UInt8>) {
        let words = line.split { $0 == 0x2C || $0 == 0x3B || $0 == 0x20 || $0 == 0x09 }.map {
            String(decoding: $0, as: UTF8.self)
        }
        guard let index = words.firstIndex(where: { $0.utf8.count == 32 && (try? Hex.decode($0)) != nil }),
            var key = try? Hex.decode(words[index])
        else { return nil }
        defer { Secret.wipe(&key) }
        self.key = SharedSecret(Secret(key))
        let before = words.prefix(index)
        privateID = before.last.flatMap { $0.utf8.count == 12 ? try? Hex.decode($0) : nil }.map {
            SharedSecret(Secret($0))
        }
        let names = privateID == nil ? before : before.dropLast()
        publicID = names.last.flatMap { try? Modhex.decode($0) }.flatMap { $0.count <= 16 ? $0 : nil }
    }
}
