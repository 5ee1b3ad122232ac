// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKPIV
public import YKTransport
import YKWire

/// A LUKS2 token of systemd-cryptenroll(1), type systemd-pkcs11: a key on a smart card, and the data from which it
/// recovers the passphrase.
public struct SystemdPKCS11Token: Hashable, Sendable {
    /// The key (pkcs11-uri, RFC 7512).
    public let uri: String
    /// The data from which the key recovers the passphrase (pkcs11-key): a secret encrypted to an RSA key (PKCS #1
    /// v1.5), or an ephemeral point 04, x, y.
    public let key: [UInt8]

    /// Creates a token.
    public init(uri: String, key: [UInt8]) { (self.uri, self.key) = (uri, key) }

    init(_ json: JSONValue) throws(LUKSError) {
        guard let uri = json["pkcs11-uri"]?.string, uri.hasPrefix("pkcs11:") else { throw .damaged("pkcs11-uri") }
        guard let text = json["pkcs11-key"]?.string, let key = try? Base64.decode(text), !key.isEmpty else {
            throw .damaged("pkcs11-key")
        }
        self.init(uri: uri, key: key)
    }

    func json(keyslot: Int) -> JSONValue {
        [
            "type": "systemd-pkcs11", "keyslots": .array([.string("\(keyslot)")]), "pkcs11-uri": .string(uri),
            "pkcs11-key": .string(Base64.encode(key)),
        ]
    }

    /// An attribute of the URI's path.
    private func attribute(_ name: String) -> Substring? {
        let path = uri.dropFirst("pkcs11:".count).prefix { $0 != "?" }
        return path.split(separator: ";").first { $0.hasPrefix(name + "=") }?.dropFirst(name.count + 1)
    }

    /// The serial number of a YubiKey: the attribute `serial`, or the end of the token's label in Yubico's module,
    /// `YubiKey PIV #12345678`. In other modules, that attribute is a number from the card's content.
    public var serial: String? {
        let label = attribute("token").flatMap { PercentEncoding.decode($0) } ?? ""
        let ending = label.lastIndex(of: "#").map { String(label[label.index(after: $0)...]) }
        let isOfKey = attribute("manufacturer").map { $0.hasPrefix("Yubico") } ?? true
        let given = isOfKey ? attribute("serial").flatMap { PercentEncoding.decode($0) } : nil
        return [given, ending].compactMap(\.self).first { text in
            !text.isEmpty && text.utf8.count <= 10 && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        }
    }

    /// The slot by the key's identifier (CKA_ID); `nil` if the URI has none.
    public var slot: PIVSlot? {
        guard let id = attribute("id"), id.utf8.count == 3, id.hasPrefix("%"),
            let number = UInt8(id.dropFirst(), radix: 16)
        else { return nil }
        return PIVSlot(pkcs11Identifier: number)
    }

    /// Returns the URI of a key in Yubico's module.
    public static func uri(of slot: PIVSlot, serial: String?) -> String {
        let token = serial.map { "token=YubiKey%20PIV%20%23\($0);" } ?? ""
        return "pkcs11:\(token)id=%\(Hex.encode([slot.pkcs11Identifier ?? 0]).uppercased());type=private"
    }

    /// Whether a key of this kind can recover the passphrase from ``key``, judging by its length.
    public func fits(_ algorithm: PIVAlgorithm) -> Bool {
        if let size = algorithm.modulusSize { return key.count == size }
        return algorithm.curve.map { key.count == 1 + 2 * $0.fieldSize } ?? false
    }

    /// Whether a key of this kind can open volumes: RSA, or on a curve of PIV.
    public static func suits(_ publicKey: PublicKey) -> Bool {
        switch publicKey {
        case .rsa, .ec(.p256, _), .ec(.p384, _): true
        default: false
        }
    }

    /// Generates a secret, and returns it with a token from which the key can recover it.
    ///
    /// - Parameters:
    ///   - publicKey: The key; must satisfy ``suits(_:)``.
    ///   - random: The source of the secret.
    /// - Throws: `unfitKey` for other kinds, `CryptoFault`, `LinkError`.
    public static func enrolling(
        _ publicKey: PublicKey, uri: String, random: any RandomSource
    ) throws -> (token: SystemdPKCS11Token, secret: SharedSecret) {
        switch publicKey {
        case .rsa(let modulus, _):
            // PKCS #1 v1.5 has room for 11 bytes less than the modulus; systemd-cryptenroll uses half of its length.
            let secret = SharedSecret(Secret(try random.draw(modulus.count / 2, secret: true)))
            let block = try padded(secret.value, to: modulus.count, random)
            return (SystemdPKCS11Token(uri: uri, key: try publicKey.rsaPublic(block)), secret)
        case .ec(let curve, _) where suits(publicKey):
            let scalar = Secret(try random.draw(curve.fieldSize, secret: true))
            let ephemeral = try PrivateKey(curve, scalar: scalar)
            guard case .ec(_, let point) = ephemeral.publicKey else { throw LUKSError.unfitKey }
            return (SystemdPKCS11Token(uri: uri, key: point), try ephemeral.shared(with: publicKey))
        default: throw LUKSError.unfitKey
        }
    }

    /// EME-PKCS1-v1_5 (RFC 8017 §7.2.1).
    private static func padded(
        _ secret: borrowing Secret, to size: Int, _ random: any RandomSource
    ) throws -> [UInt8] {
        let room = size - 3 - secret.count
        guard room >= 8 else { throw LUKSError.unfitKey }
        var padding: [UInt8] = []
        while padding.count < room { padding += try random.draw(room, secret: true).filter { $0 != 0 } }
        return [0x00, 0x02] + padding.prefix(room) + [0x00] + secret.copyBytes()
    }
}
