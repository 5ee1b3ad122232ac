// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKWire

/// The file `.stokenrc`, in which stoken stores its token: lines `version 1`, `token STRING` and `pin …`.
public struct StokenFile: Sendable {
    /// The token.
    public let token: CTFString
    private let savedPIN: String?

    /// Reads a file; `nil` if the text has none of these lines. Like stoken, ignores the case of names, skips lines
    /// with other names, and allows the version to be missing.
    ///
    /// - Throws: `format` for a different version, and the errors of ``CTFString``.
    init?(matching text: String) throws(SecurIDError) {
        var values: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard words.count >= 2, !words[0].hasPrefix("#") else { continue }
            let name = words[0].lowercased()
            if ["version", "token", "pin"].contains(name) { values[name] = String(words[1]) }
        }
        let version = values["version"].flatMap { Int($0.prefix { $0.isNumber }) }
        guard let string = values["token"], version != nil || string.utf8.first?.isDecimalDigit ?? false else {
            return nil
        }
        guard version ?? 1 == 1 else { throw .format("version \(version ?? 0) of .stokenrc") }
        token = try CTFString(string)
        savedPIN = values["pin"]
    }

    /// Whether the file also holds a PIN.
    public var hasPIN: Bool { savedPIN != nil }

    /// Returns the PIN in the file, decrypted if the token has a password; `nil` if the file has no PIN.
    ///
    /// - Throws: `passwordNeeded`, or `wrongPassword` if the decrypted text is not a PIN.
    public func pin(_ password: SharedSecret?) throws(SecurIDError) -> SharedSecret? {
        guard let savedPIN else { return nil }
        guard savedPIN.utf8.count == 64 else { return SharedSecret(Secret(utf8: savedPIN)) }
        guard let password else { throw .passwordNeeded }
        guard let bytes = try? Hex.decode(savedPIN) else { throw .field("pin") }
        var phrase = password.value.copyBytes()
        defer { Secret.wipe(&phrase) }
        var block: [UInt8]
        do {
            block = try BlockCipher.aes.decrypt(Array(bytes[16...]), key: Secret(AESHash.hash(phrase)))
        } catch { throw .crypto(error) }
        for index in block.indices { block[index] ^= bytes[index] }
        defer { Secret.wipe(&block) }
        let count = Int(block[15])
        guard (4...8).contains(count), block[..<count].allSatisfy(\.isDecimalDigit),
            block[count..<15].allSatisfy({ $0 == 0 })
        else { throw .wrongPassword }
        return SharedSecret(Secret(block[..<count]))
    }
}
