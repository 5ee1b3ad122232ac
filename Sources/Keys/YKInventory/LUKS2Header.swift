// SPDX-License-Identifier: Apache-2.0

import YKFIDO
import YKWire

/// The tokens in the header of a LUKS2 volume (LUKS2 On-Disk Format Specification, version 1.1.3 §2). The keys are not read.
struct LUKS2Header {
    private static let magic = Array("LUKS".utf8) + [0xBA, 0xBE]
    private static let binarySize = 4096
    private static let uuid = 168..<208

    /// The volume's UUID; `nil` if the metadata do not contain it.
    let uuid: String?
    private let tokens: [JSONValue]

    /// Reads the start of a volume.
    ///
    /// - Returns: `nil` if it is not a LUKS2 volume.
    /// - Throws: `malformed`.
    init?(_ bytes: [UInt8]) throws(ReferenceError) {
        guard bytes.starts(with: Self.magic), bytes.count >= Self.binarySize else { return nil }
        guard bytes[6] == 0, bytes[7] == 2 else { throw .malformed("LUKS of a version other than 2 has no tokens") }
        let size = bytes[8..<16].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard size > UInt64(Self.binarySize), size <= UInt64(CredentialReference.readLimit), size <= UInt64(bytes.count)
        else { throw .malformed("a LUKS2 header of \(size) bytes") }
        let area = bytes[Self.binarySize..<Int(size)].prefix { $0 != 0 }
        uuid = String(validating: bytes[Self.uuid].prefix { $0 != 0 }, as: UTF8.self)
        tokens = try Self.tokens(Array(area))
    }

    /// Reads the metadata as printed by `cryptsetup luksDump --dump-json-metadata`.
    ///
    /// - Throws: `malformed`.
    init(json bytes: [UInt8]) throws(ReferenceError) {
        uuid = nil
        tokens = try Self.tokens(bytes)
    }

    private static func tokens(_ bytes: [UInt8]) throws(ReferenceError) -> [JSONValue] {
        let json: JSONValue
        do { json = try JSONValue(parsing: bytes) } catch { throw .malformed("the metadata of LUKS2: \(error)") }
        guard let tokens = json["tokens"]?.object else { throw .unknownKind }
        return tokens.members.map(\.value)
    }

    /// The references of the tokens that systemd-cryptenroll(1) writes for keys.
    func references(of name: String) -> [CredentialReference] {
        let target = uuid ?? name
        return tokens.compactMap { token in
            switch token["type"]?.string {
            case "systemd-fido2":
                // A token that systemd cannot use either opens nothing.
                guard let found = try? SystemdToken.all(parsing: Array(token.text.utf8)).first else { return nil }
                return CredentialReference(
                    .luks, target, name: name, credential: found.credential, rpID: found.rpID)
            case "systemd-pkcs11":
                let item = Inventory.Item(.luks, target, name: name)
                let serial = token["pkcs11-uri"]?.string.flatMap(Self.serial)
                return CredentialReference(item, serial.map { .serial($0) } ?? .none)
            default: return nil
            }
        }
    }

    /// The serial number in the token label of Yubico's PKCS#11 module, `YubiKey PIV #12345678`.
    private static func serial(inURI uri: String) -> String? {
        let attributes = uri.dropFirst("pkcs11:".count).split(separator: ";")
        guard let attribute = attributes.first(where: { $0.hasPrefix("token=") }),
            let label = PercentEncoding.decode(attribute), let mark = label.lastIndex(of: "#")
        else { return nil }
        let digits = label[label.index(after: mark)...]
        return digits.isEmpty || !digits.utf8.allSatisfy { (0x30...0x39).contains($0) } ? nil : String(digits)
    }
}
