// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKTransport
import YKWire

/// PUT CREDENTIAL: stores a credential under an unused label.
struct PutCredential: CardCommand {
    static let name = "PUT CREDENTIAL"
    let apdu: APDU

    init(
        _ label: HSMAuthLabel, _ key: HSMAuthKey, password: borrowing HSMAuthPassword, needsTouch: Bool,
        managementKey: borrowing HSMAuthPassword
    ) {
        let keys =
            switch key {
            case .symmetric(let encryption, let mac):
                [
                    TLV(HSMAuthProtocol.Tag.encryptionKey, encryption.value.copyBytes()),
                    TLV(HSMAuthProtocol.Tag.macKey, mac.value.copyBytes()),
                ]
            case .p256(let number): [TLV(HSMAuthProtocol.Tag.privateKey, number.value.copyBytes())]
            case .generatedP256: [TLV(HSMAuthProtocol.Tag.privateKey, [])]
            }
        let head = [
            TLV(HSMAuthProtocol.Tag.managementKey, managementKey.copyBytes()),
            TLV(HSMAuthProtocol.Tag.label, label.bytes),
            TLV(HSMAuthProtocol.Tag.algorithm, [key.algorithm.rawValue]),
        ]
        let tail = [
            TLV(HSMAuthProtocol.Tag.credentialPassword, password.copyBytes()),
            TLV(HSMAuthProtocol.Tag.touch, [needsTouch ? 1 : 0]),
        ]
        apdu = APDU(ins: HSMAuthProtocol.Instruction.put, data: (head + keys + tail).encoded, le: .none)
    }
}

/// DELETE CREDENTIAL.
struct DeleteCredential: CardCommand {
    static let name = "DELETE CREDENTIAL"
    let apdu: APDU

    init(_ label: HSMAuthLabel, managementKey: borrowing HSMAuthPassword) {
        let data = [
            TLV(HSMAuthProtocol.Tag.managementKey, managementKey.copyBytes()),
            TLV(HSMAuthProtocol.Tag.label, label.bytes),
        ]
        apdu = APDU(ins: HSMAuthProtocol.Instruction.delete, data: data.encoded, le: .none)
    }
}

/// LIST: all credentials, in the key's order.
struct ListCredentials: CardCommand {
    static let name = "LIST"

    var apdu: APDU { APDU(ins: HSMAuthProtocol.Instruction.list) }

    func decode(_ reader: inout ByteReader) throws(WireError) -> [HSMAuthCredential] {
        var list: [HSMAuthCredential] = []
        while !reader.isAtEnd {
            var entry = try reader.tlv(HSMAuthProtocol.Tag.listEntry, "a credential")
            let algorithm = HSMAuthAlgorithm(rawValue: try entry.byte("the algorithm"))
            let touch = try entry.byte("the touch flag")
            let label = try entry.bytes(entry.remaining - 1, "the label")
            list.append(
                HSMAuthCredential(
                    label: HSMAuthLabel(bytes: label), algorithm: algorithm,
                    needsTouch: touch < 2 ? touch == 1 : nil, retries: Int(try entry.byte("the retries"))))
        }
        return list
    }
}

/// GET PUBLIC KEY: the point of a P-256 credential.
struct GetPublicKey: CardCommand {
    static let name = "GET PUBLIC KEY"
    let label: HSMAuthLabel

    var apdu: APDU {
        APDU(ins: HSMAuthProtocol.Instruction.getPublicKey, data: TLV(HSMAuthProtocol.Tag.label, label.bytes).encoded)
    }

    func decode(_ reader: inout ByteReader) throws(WireError) -> [UInt8] { try reader.point() }
}

/// PUT MANAGEMENT KEY.
struct PutManagementKey: CardCommand {
    static let name = "PUT MANAGEMENT KEY"
    let apdu: APDU

    init(from old: borrowing HSMAuthPassword, to new: borrowing HSMAuthPassword) {
        let data = [
            TLV(HSMAuthProtocol.Tag.managementKey, old.copyBytes()),
            TLV(HSMAuthProtocol.Tag.managementKey, new.copyBytes()),
        ]
        apdu = APDU(ins: HSMAuthProtocol.Instruction.putManagementKey, data: data.encoded, le: .none)
    }
}

/// GET MANAGEMENT KEY RETRIES.
struct GetManagementKeyRetries: CardCommand {
    static let name = "GET MANAGEMENT KEY RETRIES"

    var apdu: APDU { APDU(ins: HSMAuthProtocol.Instruction.getManagementRetries) }

    func decode(_ reader: inout ByteReader) throws(WireError) -> Int {
        let count = Int(try reader.byte("the retries"))
        try reader.finish("the retries")
        return count
    }
}

/// CHANGE CREDENTIAL PASSWORD, with the old password.
struct ChangeCredentialPassword: CardCommand {
    static let name = "CHANGE CREDENTIAL PASSWORD"
    let apdu: APDU

    init(of label: HSMAuthLabel, from old: borrowing HSMAuthPassword, to new: borrowing HSMAuthPassword) {
        let data = [
            TLV(HSMAuthProtocol.Tag.label, label.bytes), TLV(HSMAuthProtocol.Tag.credentialPassword, old.copyBytes()),
            TLV(HSMAuthProtocol.Tag.credentialPassword, new.copyBytes()),
        ]
        apdu = APDU(ins: HSMAuthProtocol.Instruction.changePassword, data: data.encoded, le: .none)
    }
}

/// CHANGE CREDENTIAL PASSWORD, with the management key.
struct SetCredentialPassword: CardCommand {
    static let name = "CHANGE CREDENTIAL PASSWORD (administrator)"
    let apdu: APDU

    init(of label: HSMAuthLabel, managementKey: borrowing HSMAuthPassword, to new: borrowing HSMAuthPassword) {
        let data = [
            TLV(HSMAuthProtocol.Tag.label, label.bytes),
            TLV(HSMAuthProtocol.Tag.managementKey, managementKey.copyBytes()),
            TLV(HSMAuthProtocol.Tag.credentialPassword, new.copyBytes()),
        ]
        apdu = APDU(ins: HSMAuthProtocol.Instruction.changePassword, p1: 1, data: data.encoded, le: .none)
    }
}

/// RESET: deletes all credentials and resets the management key to its default; it requires no authentication.
struct ResetHSMAuth: CardCommand {
    static let name = "RESET"

    var apdu: APDU { APDU(ins: HSMAuthProtocol.Instruction.reset, p1: 0xDE, p2: 0xAD, le: .none) }
}

extension ByteReader {
    /// Reads the remaining bytes as an uncompressed point of P-256: 04, x, y.
    mutating func point() throws(WireError) -> [UInt8] {
        let start = offset
        let point = try bytes(65, "a point of P-256")
        guard point[0] == 0x04 else { throw WireError(.malformed, at: start, "a point begins with 04") }
        try finish("the point")
        return point
    }
}

/// GET CHALLENGE: the host's challenge for a session, of 8 bytes, or the public half of an ephemeral key, of 65 bytes.
struct GetHostChallenge: CardCommand {
    static let name = "GET CHALLENGE"
    let apdu: APDU

    init(_ label: HSMAuthLabel) {
        apdu = APDU(
            ins: HSMAuthProtocol.Instruction.getChallenge, data: TLV(HSMAuthProtocol.Tag.label, label.bytes).encoded)
    }

    init(_ label: HSMAuthLabel, password: borrowing HSMAuthPassword) {
        let data = [
            TLV(HSMAuthProtocol.Tag.label, label.bytes),
            TLV(HSMAuthProtocol.Tag.credentialPassword, password.copyBytes()),
        ]
        apdu = APDU(ins: HSMAuthProtocol.Instruction.getChallenge, data: data.encoded)
    }

    func decode(_ reader: inout ByteReader) throws(WireError) -> [UInt8] {
        if reader.remaining == 8 { return reader.rest() }
        return try reader.point()
    }
}

/// CALCULATE SESSION KEYS of either kind of credential.
struct CalculateSessionKeys: CardCommand {
    static let name = "CALCULATE SESSION KEYS"
    let apdu: APDU

    /// For a symmetric credential; the key verifies the HSM's cryptogram if it is given.
    init(
        _ label: HSMAuthLabel, hostChallenge: [UInt8], hsmChallenge: [UInt8], cryptogram: [UInt8]?,
        password: borrowing HSMAuthPassword
    ) {
        let data =
            [
                TLV(HSMAuthProtocol.Tag.label, label.bytes),
                TLV(HSMAuthProtocol.Tag.context, hostChallenge + hsmChallenge),
            ]
            + (cryptogram.map { [TLV(HSMAuthProtocol.Tag.cryptogram, $0)] } ?? [])
            + [TLV(HSMAuthProtocol.Tag.credentialPassword, password.copyBytes())]
        apdu = APDU(ins: HSMAuthProtocol.Instruction.calculate, data: data.encoded)
    }

    /// For an asymmetric credential: both ephemeral points, the HSM's static one, and its receipt.
    init(
        _ label: HSMAuthLabel, hostPoint: [UInt8], hsmPoint: [UInt8], hsmKey: [UInt8], receipt: [UInt8],
        password: borrowing HSMAuthPassword
    ) {
        let data = [
            TLV(HSMAuthProtocol.Tag.label, label.bytes), TLV(HSMAuthProtocol.Tag.context, hostPoint + hsmPoint),
            TLV(HSMAuthProtocol.Tag.publicKey, hsmKey), TLV(HSMAuthProtocol.Tag.cryptogram, receipt),
            TLV(HSMAuthProtocol.Tag.credentialPassword, password.copyBytes()),
        ]
        apdu = APDU(ins: HSMAuthProtocol.Instruction.calculate, data: data.encoded)
    }

    func decode(_ reader: inout ByteReader) throws(WireError) -> HSMSessionKeys {
        var keys = try reader.bytes(48, "three session keys")
        defer { Secret.wipe(&keys) }
        try reader.finish("the session keys")
        let secrets = [0, 16, 32].map { SharedSecret(Secret(keys[$0..<($0 + 16)])) }
        return HSMSessionKeys(encryption: secrets[0], mac: secrets[1], responseMAC: secrets[2])
    }
}
