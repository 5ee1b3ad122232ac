// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKWire

/// The commands of an OpenPGP card (OpenPGP Smart Card Application 3.4 §7.2).
extension CardFilter {
    private typealias OpenPGP = OpenPGPProtocol.Instruction
    private typealias Tag = OpenPGPProtocol.Tag
    private typealias Password = OpenPGPProtocol.Password

    /// The objects that are read without a PIN (§4.4.1). Not among them are the private ones, and the KDF-DO, which has hashes of
    /// PINs: no PIN is typed for the key at the far end, so none is hashed there.
    private static let readable: Set<TLV.Tag> = [
        Tag.applicationIdentifier, Tag.loginData, Tag.language, Tag.sex, Tag.url, Tag.historicalBytes, Tag.cardholder,
        Tag.application, Tag.discretionary, Tag.securitySupport, Tag.certificate, Tag.extendedLength, Tag.features,
        Tag.signatureCounter, Tag.extendedCapabilities, Tag.signatureAlgorithm, Tag.decryptionAlgorithm,
        Tag.authenticationAlgorithm, Tag.pinStatus, Tag.fingerprints, Tag.authorityFingerprints, Tag.generationTimes,
        Tag.signatureTouch, Tag.decryptionTouch, Tag.authenticationTouch, Tag.keyInformation,
        Tag.algorithmInformation, Tag.optional[0], Tag.optional[1],
    ]
    /// The control reference templates of the three keys (§7.2.14), in the short form and with an empty reference.
    private static let keyReferences = [[0xB6], [0xB8], [0xA4]] as [[UInt8]]

    static func openPGP(_ command: APDU) -> CardVerdict {
        switch command.ins {
        case OpenPGP.getData:
            guard readable.contains(OpenPGPProtocol.object(of: command)), command.data.isEmpty else {
                return .absent(.referenceNotFound)
            }
            return .read(APDU(ins: command.ins, parameters: command.parameters))
        case OpenPGP.verify:
            if command.p2 == Password.admin, command.data.isEmpty, command.p1 == 0 {
                return .read(APDU(ins: command.ins, p2: command.p2, le: .none))
            }
            return verify(command, .openpgp, references: [Password.signing, Password.user], lengths: 1...127)
        case OpenPGP.performOperation, OpenPGP.authenticate: return openPGPKey(command)
        case OpenPGP.generateKey where command.p1 == OpenPGPProtocol.KeyPair.read && command.p2 == 0:
            guard isKeyReference(command.data) else { return .absent(.incorrectParameters) }
            return .read(APDU(ins: command.ins, p1: command.p1, data: command.data))
        case OpenPGP.getVersion where command.parameters == 0 && command.data.isEmpty:
            return .read(APDU(ins: command.ins))
        case OpenPGP.getChallenge, OpenPGP.selectData, OpenPGP.getNextData: return .absent(.unknownInstruction)
        default: return refusal(of: command, in: .openpgp)
        }
    }

    private static func isKeyReference(_ data: [UInt8]) -> Bool {
        keyReferences.contains { data == $0 + [0] || data == $0 + [0x03, 0x84, 0x01, 0x01] }
    }

    private static func openPGPKey(_ command: APDU) -> CardVerdict {
        typealias Operation = OpenPGPProtocol.Operation
        let use: CardUse
        switch (command.ins, command.parameters) {
        case (OpenPGP.performOperation, Operation.sign): use = .openPGPSign
        case (OpenPGP.performOperation, Operation.decipher): use = .openPGPDecrypt
        case (OpenPGP.authenticate, 0): use = .openPGPAuthenticate
        default: return refusal(of: command, in: .openpgp)
        }
        guard !command.data.isEmpty else { return .absent(.wrongLength) }
        return .use(APDU(ins: command.ins, parameters: command.parameters, data: command.data), use)
    }
}
