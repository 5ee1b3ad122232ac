// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKTransport
import YKWire

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
