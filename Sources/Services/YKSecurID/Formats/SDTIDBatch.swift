// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// An SDTID file: a header, tokens and a trailer in XML, with encrypted seeds and authenticated sections.
///
/// The signature in the trailer is not checked: it is made with a published key and therefore proves nothing.
public struct SDTIDBatch: Sendable {
    /// The serial numbers of the tokens, in order.
    public let serials: [String]
    private let header: XMLNode
    private let tokens: [XMLNode]
    private let origin: [UInt8]
    private let dest: [UInt8]
    private let name: [UInt8]

    /// Reads a file without decrypting anything.
    ///
    /// - Throws: `xml` for invalid XML, `format` for any other kind of document, `field` for a missing field.
    public init(parsing bytes: [UInt8]) throws(SecurIDError) {
        let root: XMLNode
        do { root = try XMLParser.parse(bytes) } catch { throw .xml(error) }
        guard root.name == "TKNBatch" else { throw .format("not a token batch") }
        guard let header = root.first("TKNHeader") else { throw .field("TKNHeader") }
        tokens = root.all("TKN")
        guard !tokens.isEmpty else { throw .field("TKN") }
        self.header = header
        (origin, dest, name) = (Self.text(header, "Origin"), Self.text(header, "Dest"), Self.text(header, "Name"))
        var serials: [String] = []
        for token in tokens { serials.append(try Self.serial(token)) }
        guard Set(serials).count == serials.count else { throw .format("a serial number occurs twice") }
        self.serials = serials
    }

    /// Decrypts tokens.
    ///
    /// - Parameters:
    ///   - keys: The password that protects the file, if any; device identifiers are not used.
    ///   - wanted: The serial numbers of the tokens to decrypt; `nil` for all.
    ///   - progress: Called with the number of tokens done so far.
    /// - Throws: `wrongPassword` or `passwordNeeded` if no authentication code matches, `mac` if only one does not
    ///   match, `noSuchToken`, or `field`.
    public func tokens(
        _ keys: SecurIDKeys = SecurIDKeys(), _ wanted: [String]? = nil, progress: (Int) -> Void = { _ in }
    ) throws(SecurIDError) -> [SecurIDToken] {
        let keys = try keys.checked()
        if let missing = wanted?.first(where: { !serials.contains($0) }) { throw .noSuchToken(missing) }
        let chosen = wanted.map(Set.init)
        let base = try base(keys.password)
        let batchKey = try SDTIDKeys.mac(base.value, SDTIDKeys.iv1, Array("BatchMAC".utf8).fitted(32) + name.fitted(32))
        let headerFits = try fits(header, "HeaderMAC", Secret(batchKey), SDTIDKeys.iv1)
        var result: [SecurIDToken] = []
        for (token, serial) in zip(tokens, serials) where chosen?.contains(serial) ?? true {
            let label = Self.text(token, "SN")
            let tokenKey = try SDTIDKeys.mac(
                base.value, SDTIDKeys.iv2, Array("TokenMAC".utf8).fitted(32) + label.fitted(32))
            let tokenFits = try fits(token, "TokenMAC", Secret(tokenKey), SDTIDKeys.iv2)
            switch (headerFits, tokenFits) {
            case (true, true): break
            case (true, false): throw .mac("token \(serial)")
            case (false, true): throw .mac("header")
            case (false, false): throw keys.password == nil ? .passwordNeeded : .wrongPassword
            }
            result.append(try read(token, serial, base.value))
            progress(result.count)
        }
        return result
    }

    /// Returns the batch key: the header's secret, encrypted with a key derived from the password or, without a
    /// password, from the origin.
    private func base(_ password: SharedSecret?) throws(SecurIDError) -> SharedSecret {
        var phrase = password?.value.copyBytes() ?? origin
        defer { Secret.wipe(&phrase) }
        guard let secret = try? Base64.decode(compact(header, "Secret")), secret.count == 16 else {
            throw .field("Secret")
        }
        return try SDTIDKeys.base(phrase, dest: dest, name: name, secret: secret)
    }

    private func fits(
        _ section: XMLNode, _ field: String, _ key: borrowing Secret, _ vector: [UInt8]
    ) throws(SecurIDError) -> Bool {
        guard let mac = try? Base64.decode(compact(section, field)), mac.count == 16 else { throw .field(field) }
        let text = SDTIDText(section).padded
        return constantTimeEqual(mac, try SDTIDKeys.mac(key, vector, text))
    }

    private func read(
        _ token: XMLNode, _ serial: String, _ base: borrowing Secret
    ) throws(SecurIDError) -> SecurIDToken {
        let encrypted = try Self.seed(compact(token, "Seed"))
        var seed = try SDTIDKeys.crypt(encrypted, base, serial: Self.text(token, "SN"))
        defer { Secret.wipe(&seed) }
        let user = [value(token, "UserFirstName"), value(token, "UserLastName")].compactMap { $0 }
            .joined(separator: " ")
        return try SecurIDToken(
            serial: serial, seed: SharedSecret(Secret(seed)), digits: try number(token, "Digits", 6),
            interval: .seconds(try number(token, "Interval", 60)), type: try type(token),
            expiry: try date(token, "Death"),
            nickname: value(token, "Nickname"), user: value(token, "UserLogin") ?? (user.isEmpty ? nil : user),
            deviceID: value(token, "DeviceSerialNumber"))
    }

    /// Returns the encrypted seed. Its base64 normally starts with one extra character.
    private static func seed(_ text: String) throws(SecurIDError) -> [UInt8] {
        let readings = [String(text.dropFirst()), text].map { (try? Base64.decode($0)) ?? [] }
        if let bytes = readings.first(where: { $0.count == SecurIDToken.seedSize }) { return bytes }
        guard !readings.contains(where: { $0.count == 8 }) else {
            throw .format("a 64-bit token, which is not supported")
        }
        throw .field("Seed")
    }

    private func type(_ token: XMLNode) throws(SecurIDError) -> SecurIDTokenType {
        if try number(token, "AddPIN", 0) != 0 { return .pinpad }
        return try number(token, "PinType", 0) == 1 ? .pinless : .keyfob
    }

    // MARK: - Fields

    /// Returns a token's field, falling back to the header's default `DefX` and then to the header's field `X`.
    private func field(_ token: XMLNode, _ name: String) -> String? {
        value(token, name) ?? value(header, "Def" + name) ?? value(header, name)
    }

    private func number(_ token: XMLNode, _ name: String, _ fallback: Int) throws(SecurIDError) -> Int {
        guard let text = field(token, name) else { return fallback }
        guard let number = Int(text), number >= 0 else { throw .field(name) }
        return number
    }

    private func date(_ token: XMLNode, _ name: String) throws(SecurIDError) -> UTCDate? {
        guard let text = field(token, name) else { return nil }
        guard let date = Self.date(text) else { throw .field(name) }
        return date
    }

    /// Reads `YYYY/MM/DD`, with or without leading zeros, optionally followed by a time.
    private static func date(_ text: String) -> UTCDate? {
        let day = text.prefix { !$0.isWhitespace && $0 != "T" }
        let numbers = day.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "-" }.map { part in
            part.utf8.count <= 4 && part.utf8.allSatisfy(\.isDecimalDigit) ? Int(part) : nil
        }
        guard numbers.count == 3, let year = numbers[0], let month = numbers[1], let day = numbers[2] else {
            return nil
        }
        return UTCDate(year, month, day)
    }

    /// Returns the text of a descendant element; `nil` for white space only, which represents an empty value.
    private func value(_ node: XMLNode, _ name: String) -> String? {
        if let value = node.value(name) { return value }
        for child in node.children where !child.children.isEmpty {
            if let value = value(child, name) { return value }
        }
        return nil
    }

    /// Returns the text without white space.
    private func compact(_ node: XMLNode, _ name: String) -> String {
        (node.first(name)?.text ?? "").filter { !$0.isWhitespace }
    }

    private static func text(_ node: XMLNode, _ name: String) -> [UInt8] { Array((node.value(name) ?? "").utf8) }

    /// Returns the serial number, padded with leading zeros; files of hardware tokens have shorter ones.
    private static func serial(_ token: XMLNode) throws(SecurIDError) -> String {
        let text = text(token, "SN")
        guard !text.isEmpty, text.count <= 12, text.allSatisfy(\.isDecimalDigit) else { throw .field("SN") }
        return SecurIDToken.serial(padding: String(decoding: text, as: UTF8.self))
    }
}

/// The keys of a batch.
enum SDTIDKeys {
    static let iv1: [UInt8] = [
        0x2B, 0x7E, 0x15, 0x16, 0x28, 0xAE, 0xD2, 0xA6, 0xAB, 0xF7, 0x15, 0x88, 0x09, 0xCF, 0x4F, 0x3C,
    ]
    static let iv2: [UInt8] = [
        0x1B, 0xB6, 0x7A, 0xE8, 0x58, 0x4C, 0xAA, 0x73, 0xB2, 0x57, 0x42, 0xD7, 0x07, 0x8B, 0x83, 0xB8,
    ]
    private static let iv3: [UInt8] = [
        0x16, 0xA0, 0x9E, 0x66, 0x7F, 0x3B, 0xCC, 0x90, 0x8B, 0x2F, 0xB1, 0x36, 0x6E, 0xA9, 0x57, 0xD3,
    ]

    /// Computes the AES-128 CBC-MAC of a message padded with zeros to whole blocks.
    static func mac(_ key: borrowing Secret, _ vector: [UInt8], _ message: [UInt8]) throws(SecurIDError) -> [UInt8] {
        let size = max(16, (message.count + 15) / 16 * 16)
        do {
            return Array(try AESCBC.encrypt(message.fitted(size), key: key, initialisationVector: vector).suffix(16))
        } catch { throw .crypto(error) }
    }

    /// Derives the batch key from a password, the header's names and its secret.
    static func base(
        _ password: [UInt8], dest: [UInt8], name: [UInt8], secret: [UInt8]
    ) throws(SecurIDError) -> SharedSecret {
        let key = Secret(name.fitted(16))
        var message = password.fitted(32) + dest.fitted(32) + [UInt8](repeating: 0, count: 16)
        defer { Secret.wipe(&message) }
        var sum = [UInt8](repeating: 0, count: 16)
        defer { Secret.wipe(&sum) }
        for round in 0..<1000 {
            message[78] = UInt8(round >> 8)
            message[79] = UInt8(round & 0xFF)
            let mac = try mac(key, [UInt8](repeating: 0, count: 16), message)
            for index in sum.indices { sum[index] ^= mac[index] }
        }
        let label = Array("Secret".utf8).fitted(8) + name.fitted(8)
        return SharedSecret(Secret(try xor(label, under: Secret(sum), secret)))
    }

    /// Encrypts or decrypts a seed; the operation is its own inverse.
    static func crypt(_ seed: [UInt8], _ base: borrowing Secret, serial: [UInt8]) throws(SecurIDError) -> [UInt8] {
        let key = Secret(try mac(base, iv3, Array("TokenEncrypt".utf8).fitted(32) + serial.fitted(32)))
        return try xor(serial.fitted(8) + Array("Seed".utf8).fitted(8), under: key, seed)
    }

    private static func xor(
        _ label: [UInt8], under key: borrowing Secret, _ data: [UInt8]
    ) throws(SecurIDError) -> [UInt8] {
        do { return zip(try BlockCipher.aes.encrypt(label, key: key), data).map { $0 ^ $1 } } catch {
            throw .crypto(error)
        }
    }
}

/// The authenticated text of a section: one line for each element without children, in order, except elements whose
/// names end in `MAC`, with the padding that RSA's tools put between lines.
struct SDTIDText {
    /// The authenticated bytes.
    private(set) var padded: [UInt8] = []
    private var position = 0
    private var padding = 0

    init(_ section: XMLNode) {
        walk(section, section.name)
        padded = padded.fitted(position)
    }

    private mutating func walk(_ node: XMLNode, _ path: String) {
        for child in node.children where !(child.name.utf8.count > 3 && child.name.hasSuffix("MAC")) {
            let name = path + "." + child.name
            if !child.children.isEmpty {
                walk(child, name)
            } else {
                let isEmpty = child.text.isEmpty
                let value = isEmpty ? "</\(child.name)>" : child.text
                write(Array((name + " " + value + "\n").utf8), isEmpty: isEmpty)
            }
        }
    }

    private mutating func write(_ line: [UInt8], isEmpty: Bool) {
        if !isEmpty, line.count + padding <= 16 { position -= position % 16 }
        padded = padded.fitted(position) + line + [UInt8](repeating: 0, count: padding)
        position = padded.count
        padding = position.isMultiple(of: 16) ? 16 : position % 16
    }
}
