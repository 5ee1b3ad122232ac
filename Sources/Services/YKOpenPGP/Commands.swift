// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKTransport
import YKWire

typealias Tag = OpenPGPProtocol.Tag
typealias KeyTag = OpenPGPProtocol.KeyTag
typealias Password = OpenPGPProtocol.Password

/// GET DATA (OpenPGP card 3.4 §7.2.6).
struct GetData: CardCommand {
    static let name = "GET DATA"
    let tag: TLV.Tag

    var apdu: APDU {
        APDU(ins: OpenPGPProtocol.Instruction.getData, parameters: UInt16(truncatingIfNeeded: tag.rawValue))
    }

    func decode(_ reader: inout ByteReader) -> [UInt8] { reader.rest() }
}

/// GET VERSION, Yubico's: three bytes, binary-coded decimal.
struct GetFirmware: CardCommand {
    static let name = "GET VERSION"

    var apdu: APDU { APDU(ins: OpenPGPProtocol.Instruction.getVersion) }

    func decode(_ reader: inout ByteReader) throws(WireError) -> FirmwareVersion {
        let digits = try reader.bytes(3, "the version").map { $0 >> 4 * 10 + $0 & 15 }
        return FirmwareVersion(digits[0], digits[1], digits[2])
    }
}

/// VERIFY (§7.2.2).
struct VerifyPIN: CardCommand {
    static let name = "VERIFY"
    let apdu: APDU

    init(_ reference: UInt8, _ pin: borrowing Secret) {
        apdu = APDU(ins: OpenPGPProtocol.Instruction.verify, p2: reference, data: pin.copyBytes(), le: .none)
    }
}

/// CHANGE REFERENCE DATA (§7.2.3): the old PIN, then the new one.
struct ChangePIN: CardCommand {
    static let name = "CHANGE REFERENCE DATA"
    let apdu: APDU

    init(_ reference: UInt8, from old: borrowing Secret, to new: borrowing Secret) {
        apdu = APDU(
            ins: OpenPGPProtocol.Instruction.changeReference, p2: reference, data: old.copyBytes() + new.copyBytes(),
            le: .none)
    }
}

/// RESET RETRY COUNTER (§7.2.4): a new user PIN, with the reset code or the verified admin PIN.
struct ResetRetryCounter: CardCommand {
    static let name = "RESET RETRY COUNTER"
    let apdu: APDU

    init(_ new: borrowing Secret) {
        apdu = APDU(
            ins: OpenPGPProtocol.Instruction.resetRetry, p1: 0x02, p2: OpenPGPProtocol.Password.signing,
            data: new.copyBytes(), le: .none)
    }

    init(code: borrowing Secret, _ new: borrowing Secret) {
        apdu = APDU(
            ins: OpenPGPProtocol.Instruction.resetRetry, p2: OpenPGPProtocol.Password.signing,
            data: code.copyBytes() + new.copyBytes(), le: .none)
    }
}

/// PUT DATA (§7.2.8).
struct PutData: CardCommand {
    static let name = "PUT DATA"
    let tag: TLV.Tag
    let value: [UInt8]

    var apdu: APDU {
        APDU(
            ins: OpenPGPProtocol.Instruction.putData, parameters: UInt16(truncatingIfNeeded: tag.rawValue), data: value,
            le: .none)
    }
}

/// PUT DATA with an extended header list (§4.4.3.12): a private key.
struct ImportPrivateKey: CardCommand {
    static let name = "PUT DATA (key import)"
    let apdu: APDU

    /// - Parameter parts: Tags and values of the private key template.
    init(_ slot: OpenPGPSlot, _ parts: [TLV]) {
        let lengths = parts.flatMap { $0.tag.bytes + TLV.lengthField($0.value.count) }
        let content =
            slot.template + TLV(KeyTag.privateLengths, lengths).encoded
            + TLV(KeyTag.privateValues, parts.flatMap(\.value)).encoded
        apdu = APDU(
            ins: OpenPGPProtocol.Instruction.importKey, parameters: OpenPGPProtocol.headerListReference,
            data: TLV(KeyTag.headerList, content).encoded, le: .none)
    }
}

/// GENERATE ASYMMETRIC KEY PAIR (§7.2.14), which also reads an existing public key.
struct KeyPair: CardCommand {
    static let name = "GENERATE ASYMMETRIC KEY PAIR"
    let slot: OpenPGPSlot
    let type: OpenPGPKeyType
    let generates: Bool

    var apdu: APDU {
        APDU(
            ins: OpenPGPProtocol.Instruction.generateKey,
            p1: generates ? OpenPGPProtocol.KeyPair.generate : OpenPGPProtocol.KeyPair.read, data: slot.template)
    }

    func decode(_ reader: inout ByteReader) throws(WireError) -> PublicKey {
        let key = try read(&reader)
        guard key.isPoint else { throw WireError(.malformed, at: 0, "a point that is not on \(type)") }
        return key
    }

    private func read(_ reader: inout ByteReader) throws(WireError) -> PublicKey {
        let outer = try TLV.list(reader.rest()).required(KeyTag.publicKey, "public key")
        let objects = try TLV.list(outer)
        switch type {
        case .rsa(let bits):
            let modulus = Array(try objects.required(KeyTag.modulus, "modulus").drop { $0 == 0 })
            guard modulus.count * 8 == bits else {
                throw WireError(.malformed, at: 0, "a modulus of \(modulus.count) bytes for \(type)")
            }
            return .rsa(
                modulus: modulus, exponent: Array(try objects.required(KeyTag.exponent, "exponent").drop { $0 == 0 }))
        case .curve(let curve):
            let point = try objects.required(KeyTag.point, "public point")
            guard point.count == 1 + 2 * curve.fieldSize, point[0] == 0x04 else {
                throw WireError(.malformed, at: 0, "not a point on \(type)")
            }
            return .ec(curve, point: point)
        case .ed25519: return .ed25519(try Self.bytes(objects))
        case .x25519: return .x25519(try Self.bytes(objects))
        }
    }

    private static func bytes(_ objects: [TLV]) throws(WireError) -> [UInt8] {
        let value = try objects.required(KeyTag.point, "public key")
        // Some cards prefix it with 40, as OpenPGP messages do.
        let bytes = value.count == 33 && value[0] == 0x40 ? Array(value.dropFirst()) : value
        guard bytes.count == 32 else { throw WireError(.malformed, at: 0, "a key of \(bytes.count) bytes") }
        return bytes
    }
}

/// PERFORM SECURITY OPERATION: COMPUTE DIGITAL SIGNATURE (§7.2.10).
struct ComputeSignature: CardCommand {
    static let name = "PSO: COMPUTE DIGITAL SIGNATURE"
    let input: [UInt8]

    var apdu: APDU {
        APDU(ins: OpenPGPProtocol.Instruction.performOperation, parameters: OpenPGPProtocol.Operation.sign, data: input)
    }
    func decode(_ reader: inout ByteReader) -> [UInt8] { reader.rest() }
}

/// PERFORM SECURITY OPERATION: DECIPHER (§7.2.11).
struct Decipher: CardCommand {
    static let name = "PSO: DECIPHER"
    let input: [UInt8]

    var apdu: APDU {
        APDU(
            ins: OpenPGPProtocol.Instruction.performOperation, parameters: OpenPGPProtocol.Operation.decipher,
            data: input)
    }
    func decode(_ reader: inout ByteReader) -> [UInt8] { reader.rest() }
}

/// INTERNAL AUTHENTICATE (§7.2.13).
struct InternalAuthenticate: CardCommand {
    static let name = "INTERNAL AUTHENTICATE"
    let input: [UInt8]

    var apdu: APDU { APDU(ins: OpenPGPProtocol.Instruction.authenticate, data: input) }
    func decode(_ reader: inout ByteReader) -> [UInt8] { reader.rest() }
}

/// SELECT DATA (§7.2.5): selects the cardholder certificate for GET DATA and PUT DATA.
struct SelectCertificate: CardCommand {
    static let name = "SELECT DATA"
    let occurrence: UInt8
    /// Whether the list is prefixed with its length, as YubiKeys up to firmware 5.4.3 require.
    let hasLength: Bool

    var apdu: APDU {
        let list = OpenPGPProtocol.certificateList
        return APDU(
            ins: OpenPGPProtocol.Instruction.selectData, p1: occurrence, p2: OpenPGPProtocol.selectDataP2,
            data: hasLength ? [UInt8(list.count)] + list : list, le: .none)
    }
}

/// GET CHALLENGE (§7.2.15).
struct GetChallenge: CardCommand {
    static let name = "GET CHALLENGE"
    let count: UInt16

    var apdu: APDU { APDU(ins: OpenPGPProtocol.Instruction.getChallenge, le: .bytes(count)) }
    func decode(_ reader: inout ByteReader) throws(WireError) -> [UInt8] {
        let bytes = try reader.bytes(Int(count), "random bytes")
        try reader.finish("the random bytes")
        return bytes
    }
}

/// TERMINATE DF (§7.2.16).
struct TerminateDF: CardCommand {
    static let name = "TERMINATE DF"
    var apdu: APDU { APDU(ins: OpenPGPProtocol.Instruction.terminate, le: .none) }
}

/// ACTIVATE FILE (§7.2.17).
struct ActivateFile: CardCommand {
    static let name = "ACTIVATE FILE"
    var apdu: APDU { APDU(ins: OpenPGPProtocol.Instruction.activate, le: .none) }
}

/// SET PIN RETRIES, Yubico's.
struct SetPINRetries: CardCommand {
    static let name = "SET PIN RETRIES"
    let counts: [UInt8]
    var apdu: APDU { APDU(ins: OpenPGPProtocol.Instruction.setRetries, data: counts, le: .none) }
}

/// GET ATTESTATION, Yubico's: writes an attestation into the certificate of a slot.
struct GetAttestation: CardCommand {
    static let name = "GET ATTESTATION"
    let slot: OpenPGPSlot
    var apdu: APDU { APDU(cla: 0x80, ins: OpenPGPProtocol.Instruction.attest, p1: slot.reference, le: .none) }
}

extension OpenPGPSlot {
    /// The key reference (§4.4.3.8).
    var reference: UInt8 { self == .attestation ? 0x81 : UInt8(truncatingIfNeeded: rawValue + 1) }

    /// The control reference template.
    var template: [UInt8] {
        switch self {
        case .signature: [0xB6, 0x00]
        case .decryption: [0xB8, 0x00]
        case .authentication: [0xA4, 0x00]
        case .attestation: [0xB6, 0x03, 0x84, 0x01, 0x81]
        }
    }

    /// The tag of the algorithm attributes.
    var attributesTag: TLV.Tag {
        switch self {
        case .signature: Tag.signatureAlgorithm
        case .decryption: Tag.decryptionAlgorithm
        case .authentication: Tag.authenticationAlgorithm
        case .attestation: Tag.attestationAlgorithm
        }
    }
    /// The tag of the fingerprint.
    var fingerprintTag: TLV.Tag {
        switch self {
        case .signature: Tag.signatureFingerprint
        case .decryption: Tag.decryptionFingerprint
        case .authentication: Tag.authenticationFingerprint
        case .attestation: Tag.attestationFingerprint
        }
    }
    /// The tag of the generation time.
    var timeTag: TLV.Tag {
        switch self {
        case .signature: Tag.signatureTime
        case .decryption: Tag.decryptionTime
        case .authentication: Tag.authenticationTime
        case .attestation: Tag.attestationTime
        }
    }
    /// The tag of the touch policy.
    var touchTag: TLV.Tag {
        switch self {
        case .signature: Tag.signatureTouch
        case .decryption: Tag.decryptionTouch
        case .authentication: Tag.authenticationTouch
        case .attestation: Tag.attestationTouch
        }
    }
}
