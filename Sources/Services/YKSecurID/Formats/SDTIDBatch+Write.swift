// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKTransport
import YKWire

extension SDTIDBatch {
    /// Writes a token as an SDTID file.
    ///
    /// The trailer has no signature, since importers do not check it.
    ///
    /// - Parameters:
    ///   - token: The token; its device identifier becomes `DeviceSerialNumber`.
    ///   - password: The password that protects the file; `nil` for none, so that anyone can read the seed.
    ///   - random: The source of the batch's secret.
    /// - Throws: `tooLong` for a password above 40 bytes (only the first 32 are used), `random`, or `crypto`.
    public static func text(
        _ token: SecurIDToken, password: SharedSecret? = nil, _ random: any RandomSource
    ) throws(SecurIDError) -> SharedSecret {
        let secret: [UInt8]
        do { secret = try random.draw(16, secret: false) } catch { throw .random }
        let names = "ykit"
        var phrase = Array(names.utf8)
        if let password { phrase = password.value.copyBytes() }
        defer { Secret.wipe(&phrase) }
        guard phrase.count <= SecurIDLimits.password else { throw .tooLong("password", limit: SecurIDLimits.password) }
        let name = Array(names.utf8)
        let serial = Array(token.serial.utf8)
        let base = try SDTIDKeys.base(phrase, dest: name, name: name, secret: secret)
        var seed = token.seed.value.copyBytes()
        defer { Secret.wipe(&seed) }
        let encrypted = try SDTIDKeys.crypt(seed, base.value, serial: serial)
        var header = header(token, names, Base64.encode(secret))
        let batchKey = Secret(
            try SDTIDKeys.mac(base.value, SDTIDKeys.iv1, Array("BatchMAC".utf8).fitted(32) + name.fitted(32)))
        header.add("HeaderMAC", Base64.encode(try SDTIDKeys.mac(batchKey, SDTIDKeys.iv1, SDTIDText(header).padded)))
        var body = body(token, "=" + Base64.encode(encrypted))
        let tokenKey = Secret(
            try SDTIDKeys.mac(base.value, SDTIDKeys.iv2, Array("TokenMAC".utf8).fitted(32) + serial.fitted(32)))
        body.add("TokenMAC", Base64.encode(try SDTIDKeys.mac(tokenKey, SDTIDKeys.iv2, SDTIDText(body).padded)))
        var trailer = XMLNode("TKNTrailer")
        trailer.add("BatchSignature", " ")
        trailer.add("BatchCertificate", " ")
        var batch = XMLNode("TKNBatch")
        batch.children = [header, body, trailer]
        return SharedSecret(Secret(utf8: "<?xml version=\"1.0\"?>\n" + batch.indented(0)))
    }

    private static func header(_ token: SecurIDToken, _ names: String, _ secret: String) -> XMLNode {
        var header = XMLNode("TKNHeader")
        let fields = [
            ("Version", "0"), ("Origin", names), ("Dest", names), ("Name", names), ("FirstToken", token.serial),
            ("LastToken", token.serial), ("NumTokens", "1"), ("Secret", secret), ("DefBirth", "2000/01/01"),
            ("DefDeath", token.expiry?.text(separator: "/") ?? " "), ("DefDigits", String(token.digits)),
            ("DefInterval", String(token.interval.components.seconds)), ("DefAlg", "1"), ("DefMode", "0"),
            ("DefPrecision", "2400"),
            ("DefSmallWin", "630"), ("DefMediumWin", "4320"), ("DefLargeWin", "4320"),
            ("DefAddPIN", token.type == .pinpad ? "1" : "0"), ("DefLocalPIN", token.type == .pinpad ? "1" : "0"),
            ("DefCopyProtection", "1"), ("DefPinType", token.type == .pinless ? "1" : "0"), ("DefKeypad", "1"),
            ("DefProtLevel", "0"), ("DefRevision", "0"), ("DefTimeDerivedSeeds", "1"), ("DefAppDerivedSeeds", "0"),
            ("DefFormFactor", "20000001"),
        ]
        for (name, value) in fields { header.add(name, value) }
        return header
    }

    private static func body(_ token: SecurIDToken, _ seed: String) -> XMLNode {
        var body = XMLNode("TKN")
        let fields = [
            ("SN", token.serial), ("Seed", seed), ("UserFirstName", " "), ("UserLastName", " "),
            ("UserLogin", token.user ?? " "),
        ]
        for (name, value) in fields { body.add(name, value) }
        var attributes = XMLNode("TokenAttributes")
        attributes.add("DeviceSerialNumber", token.deviceID ?? " ")
        attributes.add("Nickname", token.nickname ?? " ")
        body.children.append(attributes)
        return body
    }
}

extension XMLNode {
    fileprivate mutating func add(_ name: String, _ text: String) {
        var child = XMLNode(name)
        child.text = text
        children.append(child)
    }

    /// Returns the element and its content, indented by two spaces per level.
    fileprivate func indented(_ level: Int) -> String {
        let margin = String(repeating: "  ", count: level)
        guard !children.isEmpty else { return "\(margin)<\(name)>\(text.xmlEscaped)</\(name)>\n" }
        let inner = children.map { $0.indented(level + 1) }.joined()
        return "\(margin)<\(name)>\n\(inner)\(margin)</\(name)>\n"
    }
}

extension String {
    /// The text with XML's reserved characters escaped, and without control characters, which XML does not allow.
    package var xmlEscaped: String {
        var escaped = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\u{0}"..<"\u{20}", "\u{7F}": break
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
