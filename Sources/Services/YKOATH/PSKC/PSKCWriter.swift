// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKTransport
import YKWire
import YKX509

/// Writes the elements of a key container.
final class PSKCWriter {
    static let rounds = 600_000
    private static let xmlEncryption = "http://www.w3.org/2001/04/xmlenc#"
    private static let hmac = "http://www.w3.org/2000/09/xmldsig#hmac-sha1"
    private static let prf = "http://www.w3.org/2001/04/xmldsig-more#hmac-sha256"

    private let random: any RandomSource
    private let key: Secret
    private let macKey: Secret
    private let encryptionKey: String

    init(locking: PSKCUnlocking, random: any RandomSource) throws(PSKCError) {
        self.random = random
        switch locking {
        case .presharedKey(let shared):
            guard [16, 24, 32].contains(shared.value.count) else { throw .wrongKey }
            key = shared.value.copy()
            encryptionKey = "<ds:KeyName>Pre-shared-key</ds:KeyName>"
        case .passphrase(let passphrase):
            let salt = try Self.draw(16, random)
            do {
                key = try HashAlgorithm.sha256.pbkdf2(passphrase.value, salt: salt, rounds: Self.rounds, length: 32)
            } catch {
                throw .crypto(error)
            }
            encryptionKey = Self.derivation(salt)
        }
        var bytes = try Self.draw(20, random)
        defer { Secret.wipe(&bytes) }
        macKey = Secret(bytes)
        sealedMACKey = ""
        sealedMACKey = try seal(bytes).xml
    }

    private var sealedMACKey: String

    func container(_ packages: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <pskc:KeyContainer Version="1.0" xmlns:pskc="urn:ietf:params:xml:ns:keyprov:pskc" \
        xmlns:ds="http://www.w3.org/2000/09/xmldsig#" xmlns:xenc="\(Self.xmlEncryption)" \
        xmlns:xenc11="http://www.w3.org/2009/xmlenc11#" \
        xmlns:pkcs5="http://www.rsasecurity.com/rsalabs/pkcs/schemas/pkcs-5v2-0#">
        <pskc:EncryptionKey>\(encryptionKey)</pskc:EncryptionKey>
        <pskc:MACMethod Algorithm="\(Self.hmac)"><pskc:MACKey>\(sealedMACKey)</pskc:MACKey></pskc:MACMethod>
        \(packages)</pskc:KeyContainer>

        """
    }

    func package(_ account: NewOATHAccount, id: String, serial: String?) throws(PSKCError) -> String {
        let isCounter = account.id.type == .hotp
        let device = serial.map {
            "<pskc:DeviceInfo><pskc:Manufacturer>Yubico</pskc:Manufacturer>"
                + "<pskc:SerialNo>\(Self.escape($0))</pskc:SerialNo></pskc:DeviceInfo>"
        }
        let issuer = account.id.issuer.map { "<pskc:Issuer>\(Self.escape($0))</pskc:Issuer>" }
        let moving =
            isCounter
            ? "<pskc:Counter><pskc:PlainValue>\(account.counter)</pskc:PlainValue></pskc:Counter>"
            : "<pskc:TimeInterval><pskc:PlainValue>\(account.id.period.components.seconds)</pskc:PlainValue></pskc:TimeInterval>"
        return """
            <pskc:KeyPackage>\(device ?? "")<pskc:Key Id="\(Self.escape(id))" \
            Algorithm="urn:ietf:params:xml:ns:keyprov:pskc:\(isCounter ? "hotp" : "totp")">\(issuer ?? "")\
            <pskc:AlgorithmParameters><pskc:Suite>\(account.algorithm)</pskc:Suite>\
            <pskc:ResponseFormat Encoding="DECIMAL" Length="\(account.digits)"/></pskc:AlgorithmParameters>\
            <pskc:FriendlyName>\(Self.escape(account.id.text))</pskc:FriendlyName>\
            <pskc:Data>\(try secret(account))\(moving)</pskc:Data>\
            <pskc:UserId>\(Self.escape(Self.user(account.id.name)))</pskc:UserId>\
            </pskc:Key></pskc:KeyPackage>

            """
    }

    private func secret(_ account: NewOATHAccount) throws(PSKCError) -> String {
        var bytes = account.secret.value.copyBytes()
        defer { Secret.wipe(&bytes) }
        let (xml, value) = try seal(bytes)
        let mac = Base64.encode(HashAlgorithm.sha1.hmac(key: macKey, value))
        return "<pskc:Secret><pskc:EncryptedValue>\(xml)</pskc:EncryptedValue>"
            + "<pskc:ValueMAC>\(mac)</pskc:ValueMAC></pskc:Secret>"
    }

    /// Pads and encrypts; returns the elements and the bytes to authenticate.
    private func seal(_ plain: [UInt8]) throws(PSKCError) -> (xml: String, value: [UInt8]) {
        let vector = try Self.draw(AESCBC.blockSize, random)
        let count = AESCBC.blockSize - plain.count % AESCBC.blockSize
        var padded = plain + [UInt8](repeating: UInt8(truncatingIfNeeded: count), count: count)
        defer { Secret.wipe(&padded) }
        do {
            let value = vector + (try AESCBC.encrypt(padded, key: key, initialisationVector: vector))
            let method = "\(Self.xmlEncryption)aes\(key.count * 8)-cbc"
            let xml =
                "<xenc:EncryptionMethod Algorithm=\"\(method)\"/><xenc:CipherData><xenc:CipherValue>"
                + "\(Base64.encode(value))</xenc:CipherValue></xenc:CipherData>"
            return (xml, value)
        } catch {
            throw .crypto(error)
        }
    }

    private static func derivation(_ salt: [UInt8]) -> String {
        """
        <xenc11:DerivedKey><xenc11:KeyDerivationMethod \
        Algorithm="http://www.rsasecurity.com/rsalabs/pkcs/schemas/pkcs-5v2-0#pbkdf2">\
        <pkcs5:PBKDF2-params><Salt><Specified>\(Base64.encode(salt))</Specified></Salt>\
        <IterationCount>\(rounds)</IterationCount><KeyLength>32</KeyLength><PRF Algorithm="\(prf)"/>\
        </pkcs5:PBKDF2-params></xenc11:KeyDerivationMethod></xenc11:DerivedKey>
        """
    }

    private static func draw(_ count: Int, _ random: any RandomSource) throws(PSKCError) -> [UInt8] {
        do { return try random.draw(count, secret: true) } catch {
            throw .crypto(CryptoFault("random bytes: \(error)"))
        }
    }

    /// A name as a distinguished name; XML readers drop spaces at its ends.
    private static func user(_ name: String) -> String { "CN=" + DistinguishedName.escaped(name, space: "\\20") }

    private static func escape(_ text: String) -> String {
        let names: [Character: String] = ["&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&apos;"]
        return text.map { names[$0] ?? String($0) }.joined()
    }
}

extension PSKC {
    /// Writes accounts as a key container with encrypted secrets: AES-CBC, with a message authentication code
    /// (HMAC-SHA-1, RFC 6030 §6.1.1) under a separate key.
    ///
    /// A passphrase is turned into the key by 600 000 rounds of PBKDF2 with HMAC-SHA-256; a pre-shared key has 16, 24
    /// or 32 bytes. `serial` is the serial number of the key that holds the accounts.
    public static func write(
        _ accounts: [NewOATHAccount], serial: String? = nil, locking: PSKCUnlocking, random: any RandomSource
    ) throws(PSKCError) -> [UInt8] {
        let writer = try PSKCWriter(locking: locking, random: random)
        var body = ""
        for (place, account) in accounts.enumerated() {
            body += try writer.package(account, id: "\(serial ?? "key")-\(place + 1)", serial: serial)
        }
        return Array(writer.container(body).utf8)
    }
}
