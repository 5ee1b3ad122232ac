// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKSecureChannel
import YKTransport
import YKWire

/// PUT KEY (GlobalPlatform Card Specification 2.3.1 §11.8; Amendment D §7.2, Amendment F §7.3): stores a key or an SCP03
/// set.
struct PutSecurityKey: CardCommand {
    static let name = "PUT KEY"
    let apdu: APDU
    private let expected: [UInt8]

    private init(_ reference: SCPKeyReference, isSet: Bool, replacing version: UInt8, _ body: [UInt8], checks: [UInt8])
    {
        apdu = APDU(
            cla: 0x80, ins: SecurityDomainProtocol.Instruction.putKey, p1: version,
            p2: reference.id | (isSet ? 0x80 : 0), data: [reference.version] + body)
        expected = [reference.version] + checks
    }

    /// An SCP03 set, each key encrypted and with its check value.
    static func set(
        _ reference: SCPKeyReference, _ keys: [SharedSecret], replacing version: UInt8, under key: SharedSecret
    ) throws(CryptoFault) -> PutSecurityKey {
        var (body, checks): ([UInt8], [UInt8]) = ([], [])
        for part in keys {
            let check = try SCP03Keys.checkValue(of: part.value)
            body += TLV(0x88, try encrypted(part.value, key)).encoded + [UInt8(check.count)] + check
            checks += check
        }
        return PutSecurityKey(reference, isSet: true, replacing: version, body, checks: checks)
    }

    /// A private key on P-256, 32 bytes, encrypted.
    static func privateKey(
        _ reference: SCPKeyReference, _ number: borrowing Secret, replacing version: UInt8, under key: SharedSecret
    ) throws(CryptoFault) -> PutSecurityKey {
        let body = TLV(0xB1, try encrypted(number, key)).encoded + curve
        return PutSecurityKey(reference, isSet: false, replacing: version, body, checks: [])
    }

    /// The public key of a CA on P-256: 04, x, y.
    static func authority(_ reference: SCPKeyReference, _ point: [UInt8], replacing version: UInt8) -> PutSecurityKey {
        PutSecurityKey(reference, isSet: false, replacing: version, TLV(0xB0, point).encoded + curve, checks: [])
    }

    /// P-256, and no key check value.
    private static let curve = TLV(0xF0, [0x00]).encoded + [0x00]

    private static func encrypted(_ bytes: borrowing Secret, _ key: SharedSecret) throws(CryptoFault) -> [UInt8] {
        var plain = bytes.copyBytes()
        defer { Secret.wipe(&plain) }
        return try AESCBC.encrypt(
            plain, key: key.value, initialisationVector: [UInt8](repeating: 0, count: AESCBC.blockSize))
    }

    /// Whether the card's check values match the keys that were sent.
    func decode(_ reader: inout ByteReader) -> Bool { constantTimeEqual(reader.rest(), expected) }
}

/// GENERATE KEY (Amendment F §7.4): generates a key pair on P-256.
struct GenerateSecurityKey: CardCommand {
    static let name = "GENERATE KEY"
    let apdu: APDU

    init(_ reference: SCPKeyReference, replacing version: UInt8) {
        apdu = APDU(
            cla: 0x80, ins: SecurityDomainProtocol.Instruction.generateKey, p1: version, p2: reference.id,
            data: [reference.version] + TLV(0xF0, [0x00]).encoded)
    }

    func decode(_ reader: inout ByteReader) throws(WireError) -> [UInt8] {
        var key = try reader.tlv(0xB0, "the public key")
        try reader.finish("the public key")
        let point = key.rest()
        guard point.count == 65, point[0] == 0x04 else {
            throw WireError(.malformed, at: 0, "not an uncompressed point on P-256")
        }
        return point
    }
}

/// DELETE KEY (Card Specification 2.3.1 §11.2): deletes all keys of a KID, a KVN, or both.
struct DeleteSecurityKey: CardCommand {
    static let name = "DELETE KEY"
    let apdu: APDU

    init(id: UInt8?, version: UInt8?, evenLast: Bool) {
        let objects = [id.map { TLV(0xD0, [$0]) }, version.map { TLV(0xD2, [$0]) }].compactMap { $0 }
        apdu = APDU(
            cla: 0x80, ins: SecurityDomainProtocol.Instruction.deleteKey, p2: evenLast ? 1 : 0, data: objects.encoded)
    }
}

/// STORE DATA (Card Specification 2.3.1 §11.11) in one block.
struct StoreSecurityData: CardCommand {
    static let name = "STORE DATA"
    let apdu: APDU

    private init(_ objects: [TLV]) {
        apdu = APDU(ins: SecurityDomainProtocol.Instruction.storeData, p1: 0x90, data: objects.encoded)
    }

    /// The certificates of a private key, leaf last.
    static func certificates(_ reference: SCPKeyReference, _ certificates: [[UInt8]]) -> StoreSecurityData {
        StoreSecurityData([SecurityDomainProtocol.control(reference), TLV(0xBF21, Array(certificates.joined()))])
    }

    /// The serial numbers that certificates of a CA may have, each as the content of an ASN.1 integer.
    static func allowList(_ reference: SCPKeyReference, _ serials: [[UInt8]]) -> StoreSecurityData {
        let list = serials.map { serial -> TLV in
            let digits = Array(serial.drop { $0 == 0 })
            return TLV(0x93, digits.first.map { $0 >= 0x80 } ?? true ? [0] + digits : digits)
        }
        return StoreSecurityData([SecurityDomainProtocol.control(reference), TLV(0x70, list.encoded)])
    }

    /// The subject key identifier of a CA: of the host's (KLOC), or for a private key of the card's (KLCC).
    static func authority(_ reference: SCPKeyReference, _ identifier: [UInt8]) -> StoreSecurityData {
        let isCards = [0x11, 0x13, 0x15].contains(reference.id)
        let control = [TLV(0x80, [isCards ? 1 : 0]), TLV(0x42, identifier), TLV(0x83, reference.bytes)]
        return StoreSecurityData([TLV(0xA6, control.encoded)])
    }
}
