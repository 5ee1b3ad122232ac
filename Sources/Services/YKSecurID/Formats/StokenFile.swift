// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKWire

/// The file that stoken keeps its token in, `.stokenrc`: lines `version 1`, `token DIGITS` and `pin …`.
public struct StokenFile: Sendable {
    /// The token.
    public let token: NumericCTF
    private let savedPIN: String?

    /// Reads a file; `nil` for a text that does not have its lines.
    ///
    /// - Throws: `format` for another version or a file without a token, and what ``NumericCTF`` throws.
    init?(matching text: String) throws(SecurIDError) {
        var values: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard let name = words.first, !name.hasPrefix("#") else { continue }
            guard words.count == 2, ["version", "token", "pin"].contains(String(name)) else { return nil }
            values[String(name)] = String(words[1])
        }
        guard let version = values["version"] else { return nil }
        guard version == "1" else { throw .format("version \(version.prefix(8)) of .stokenrc") }
        guard let string = values["token"] else { throw .format("a .stokenrc without a token") }
        token = try NumericCTF(string)
        savedPIN = values["pin"]
    }

    /// Whether the file also holds a PIN.
    public var hasPIN: Bool { savedPIN != nil }

    /// The PIN in the file, decrypted where the token has a password; `nil` when there is none.
    ///
    /// - Throws: `passwordNeeded`, or `wrongPassword` when what is decrypted is not a PIN.
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
