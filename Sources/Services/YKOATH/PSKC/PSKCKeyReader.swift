// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire
import YKX509

/// Reads one `Key` element (RFC 6030 §4.1 to §4.3).
struct PSKCKeyReader {
    let node: XMLNode
    let serial: String?
    let cipher: PSKCCipher?

    func account() throws(PSKCError) -> NewOATHAccount {
        let type = try type()
        let period = type == .totp ? try number("TimeInterval", in: 1...UInt64(Int32.max)) ?? 30 : 30
        let (issuer, name) = try labels()
        let id = OATHAccountID(issuer: issuer, name: name, period: .seconds(period), type: type)
        let counter = type == .hotp ? try number("Counter", in: 0...UInt64(UInt32.max)) ?? 0 : 0
        return NewOATHAccount(
            id: id, secret: try secret(), algorithm: try algorithm(), digits: try digits(),
            counter: UInt32(clamping: counter))
    }

    private func type() throws(PSKCError) -> OATHType {
        let algorithm = node.attributes["Algorithm"] ?? ""
        // The drafts of RFC 6030 put a fragment at the end.
        switch algorithm.lowercased().split(whereSeparator: { $0 == ":" || $0 == "#" }).last {
        case "hotp": return .hotp
        case "totp": return .totp
        default: throw .unsupported(algorithm)
        }
    }

    /// Issuer and name. The user identifier may be a distinguished name, from which the common name is used; ykman 5.9
    /// writes `issuer:name` as the friendly name.
    private func labels() throws(PSKCError) -> (issuer: String?, name: String) {
        var issuer = node.value("Issuer")
        var name = [node.attributes["Id"], serial].compactMap { $0 }.first { !$0.isEmpty }
        if let friendly = node.value("FriendlyName") {
            let parts = friendly.split(separator: ":", maxSplits: 1).map(String.init)
            let hasIssuer = parts.count == 2 && (issuer == nil || issuer == parts[0])
            name = hasIssuer ? parts[1] : friendly
            if hasIssuer { issuer = parts[0] }
        }
        if let user = node.value("UserId") { name = DistinguishedName.commonName(in: user) ?? user }
        let label = AccountLabel(issuer: issuer, name: name)
        if label.name.isEmpty { throw .field("Id", "") }
        return (label.issuer, label.name)
    }

    private func algorithm() throws(PSKCError) -> OATHAlgorithm {
        guard let suite = node.first("AlgorithmParameters")?.value("Suite") else { return .sha1 }
        guard let algorithm = OATHAlgorithm(name: suite) else { throw .unsupported(suite) }
        return algorithm
    }

    private func digits() throws(PSKCError) -> Int {
        guard let format = node.first("AlgorithmParameters", "ResponseFormat") else { return 6 }
        if let encoding = format.attributes["Encoding"], encoding != "DECIMAL" { throw .unusable("Encoding", encoding) }
        // A key appends no check digit (RFC 6030 §4.3.4), without which the server refuses the codes.
        if ["true", "1"].contains(format.attributes["CheckDigits"]) { throw .field("CheckDigits", "true") }
        let length = format.attributes["Length"] ?? "6"
        guard let digits = Int(length), (6...8).contains(digits) else { throw .unusable("Length", length) }
        return digits
    }

    private func secret() throws(PSKCError) -> Secret {
        guard var bytes = try data("Secret") else { throw .field("Secret", "") }
        defer { Secret.wipe(&bytes) }
        if bytes.isEmpty { throw .field("Secret", "") }
        return Secret(bytes)
    }

    /// A number in `Data`: decimal if plain, or as older programs wrote it, and if it is encrypted, big-endian bytes.
    private func number(_ name: String, in range: ClosedRange<UInt64>) throws(PSKCError) -> UInt64? {
        guard let element = node.first("Data", name) else { return nil }
        let value: UInt64?
        let shown: String
        if let plain = element.value("PlainValue") {
            (value, shown) = (UInt64(plain) ?? (try? plain.base64(name)).flatMap(Self.number), plain)
        } else {
            (value, shown) = (Self.number(try data(name) ?? []), "")
        }
        guard let value, range.contains(value) else { throw .unusable(name, shown) }
        return value
    }

    private static func number(_ bytes: [UInt8]) -> UInt64? {
        bytes.count > 8 ? nil : bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The bytes of an element of `Data`, decrypted if necessary.
    private func data(_ name: String) throws(PSKCError) -> [UInt8]? {
        guard let element = node.first("Data", name) else { return nil }
        if let plain = element.value("PlainValue") { return try plain.base64(name) }
        guard let encrypted = element.first("EncryptedValue") else { return nil }
        guard let cipher else { throw .needsKey(.none) }
        return try cipher.open(encrypted, mac: element.value("ValueMAC"))
    }
}

extension String {
    /// Decodes base64 that may contain line breaks.
    func base64(_ field: String) throws(PSKCError) -> [UInt8] {
        do { return try Base64.decode(filter { !$0.isWhitespace }) } catch { throw .field(field, "not base64") }
    }
}
