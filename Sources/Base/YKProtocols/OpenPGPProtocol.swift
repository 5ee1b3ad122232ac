// SPDX-License-Identifier: Apache-2.0

public import YKWire

extension AID {
    /// OpenPGP card.
    public static let openPGP = AID(rawValue: [0xD2, 0x76, 0x00, 0x01, 0x24, 0x01])
}

/// OpenPGP card (OpenPGP Smart Card Application 3.4).
package enum OpenPGPProtocol: CardVocabulary {
    package static var aid: AID { .openPGP }
    package static let title = "OpenPGP"

    /// The instruction bytes (§7.2; Yubico's from F1 on).
    package enum Instruction {
        package static let verify: UInt8 = 0x20
        package static let changeReference: UInt8 = 0x24
        package static let performOperation: UInt8 = 0x2A
        package static let resetRetry: UInt8 = 0x2C
        package static let activate: UInt8 = 0x44
        package static let generateKey: UInt8 = 0x47
        package static let getChallenge: UInt8 = 0x84
        package static let authenticate: UInt8 = 0x88
        package static let selectData: UInt8 = 0xA5
        package static let getData: UInt8 = 0xCA
        package static let getNextData: UInt8 = 0xCC
        package static let putData: UInt8 = 0xDA
        package static let importKey: UInt8 = 0xDB
        package static let terminate: UInt8 = 0xE6
        package static let getVersion: UInt8 = 0xF1
        package static let setRetries: UInt8 = 0xF2
        package static let attest: UInt8 = 0xFB
    }

    /// The data objects (§4.4).
    package enum Tag {
        package static let applicationIdentifier: TLV.Tag = 0x4F
        package static let name: TLV.Tag = 0x5B
        package static let loginData: TLV.Tag = 0x5E
        /// The optional DOs 1 to 4; the third and fourth are private.
        package static let optional = [0x0101, 0x0102, 0x0103, 0x0104] as [TLV.Tag]
        package static let language: TLV.Tag = 0x5F2D
        package static let sex: TLV.Tag = 0x5F35
        package static let url: TLV.Tag = 0x5F50
        package static let historicalBytes: TLV.Tag = 0x5F52
        package static let cardholder: TLV.Tag = 0x65
        package static let application: TLV.Tag = 0x6E
        package static let discretionary: TLV.Tag = 0x73
        package static let securitySupport: TLV.Tag = 0x7A
        package static let certificate: TLV.Tag = 0x7F21
        package static let extendedLength: TLV.Tag = 0x7F66
        package static let features: TLV.Tag = 0x7F74
        package static let signatureCounter: TLV.Tag = 0x93
        package static let extendedCapabilities: TLV.Tag = 0xC0
        package static let signatureAlgorithm: TLV.Tag = 0xC1
        package static let decryptionAlgorithm: TLV.Tag = 0xC2
        package static let authenticationAlgorithm: TLV.Tag = 0xC3
        package static let pinStatus: TLV.Tag = 0xC4
        package static let fingerprints: TLV.Tag = 0xC5
        package static let authorityFingerprints: TLV.Tag = 0xC6
        package static let signatureFingerprint: TLV.Tag = 0xC7
        package static let decryptionFingerprint: TLV.Tag = 0xC8
        package static let authenticationFingerprint: TLV.Tag = 0xC9
        /// The three fingerprints of trusted keys, one by one.
        package static let authorityFingerprintParts = [0xCA, 0xCB, 0xCC] as [TLV.Tag]
        package static let generationTimes: TLV.Tag = 0xCD
        package static let signatureTime: TLV.Tag = 0xCE
        package static let decryptionTime: TLV.Tag = 0xCF
        package static let authenticationTime: TLV.Tag = 0xD0
        package static let resettingCode: TLV.Tag = 0xD3
        package static let encipheringKey: TLV.Tag = 0xD5
        package static let signatureTouch: TLV.Tag = 0xD6
        package static let decryptionTouch: TLV.Tag = 0xD7
        package static let authenticationTouch: TLV.Tag = 0xD8
        package static let attestationTouch: TLV.Tag = 0xD9
        package static let attestationAlgorithm: TLV.Tag = 0xDA
        package static let attestationFingerprint: TLV.Tag = 0xDB
        package static let attestationAuthorityFingerprint: TLV.Tag = 0xDC
        package static let attestationTime: TLV.Tag = 0xDD
        package static let keyInformation: TLV.Tag = 0xDE
        package static let kdf: TLV.Tag = 0xF9
        package static let algorithmInformation: TLV.Tag = 0xFA
        package static let attestationCertificate: TLV.Tag = 0xFC
    }

    /// The parts of the KDF-DO (§4.3.2).
    package enum KDFTag {
        package static let algorithm: TLV.Tag = 0x81
        package static let hash: TLV.Tag = 0x82
        package static let count: TLV.Tag = 0x83
        package static let userSalt: TLV.Tag = 0x84
        package static let resetSalt: TLV.Tag = 0x85
        package static let adminSalt: TLV.Tag = 0x86
        /// The hashes of the default PINs.
        package static let userHash: TLV.Tag = 0x87
        package static let adminHash: TLV.Tag = 0x88
    }

    /// The values of the KDF-DO: its algorithms and hashes (§4.3.2).
    package enum KDFValue {
        package static let none: UInt8 = 0x00
        package static let iteratedSalted: UInt8 = 0x03
        package static let sha256: UInt8 = 0x08
        package static let sha512: UInt8 = 0x0A
    }

    /// The parts of keys: a public key (§7.2.14), an extended header list with a private key (§4.4.3.12), and what is
    /// deciphered with a key on a curve (§7.2.11).
    package enum KeyTag {
        package static let publicKey: TLV.Tag = 0x7F49
        package static let modulus: TLV.Tag = 0x81
        package static let exponent: TLV.Tag = 0x82
        package static let point: TLV.Tag = 0x86
        package static let cipher: TLV.Tag = 0xA6
        package static let headerList: TLV.Tag = 0x4D
        package static let privateLengths: TLV.Tag = 0x7F48
        package static let privateValues: TLV.Tag = 0x5F48
        package static let privateExponent: TLV.Tag = 0x91
        /// The first prime, or the scalar on a curve.
        package static let prime1: TLV.Tag = 0x92
        package static let prime2: TLV.Tag = 0x93
        package static let coefficient: TLV.Tag = 0x94
        package static let remainder1: TLV.Tag = 0x95
        package static let remainder2: TLV.Tag = 0x96
        package static let privateModulus: TLV.Tag = 0x97
        package static let privatePoint: TLV.Tag = 0x99
    }

    /// P1 and P2 of PUT DATA with an extended header list (instruction DB).
    package static let headerListReference: UInt16 = 0x3FFF
    /// P2 of SELECT DATA, and its list: the tag of the cardholder certificate (§7.2.5).
    package static let selectDataP2: UInt8 = 0x04
    package static let certificateList: [UInt8] = [0x60, 0x04, 0x5C, 0x02, 0x7F, 0x21]
    /// The second byte of a touch policy: a button (§4.4.3.6).
    package static let button: UInt8 = 0x20

    /// P1 and P2 of PERFORM SECURITY OPERATION (§7.2.10 to §7.2.12).
    package enum Operation {
        package static let sign: UInt16 = 0x9E9A
        package static let decipher: UInt16 = 0x8086
        package static let encipher: UInt16 = 0x8680
    }

    /// The references of passwords in P2 (§7.2.2): PW1 for signatures, PW1 for other operations, PW3.
    package enum Password {
        package static let signing: UInt8 = 0x81
        package static let user: UInt8 = 0x82
        package static let admin: UInt8 = 0x83
    }

    /// P1 of GENERATE ASYMMETRIC KEY PAIR (§7.2.14).
    package enum KeyPair {
        package static let generate: UInt8 = 0x80
        package static let read: UInt8 = 0x81
    }

    package static let instructions: [UInt8: String] = [
        Instruction.verify: "VERIFY", Instruction.changeReference: "CHANGE",
        Instruction.performOperation: "PERFORM SECURITY OPERATION",
        Instruction.resetRetry: "RESET RETRY COUNTER", Instruction.activate: "ACTIVATE",
        Instruction.generateKey: "GENERATE KEY PAIR", Instruction.getChallenge: "GET CHALLENGE",
        Instruction.authenticate: "INTERNAL AUTHENTICATE", Instruction.selectData: "SELECT DATA",
        Instruction.getData: "GET DATA", Instruction.getNextData: "GET NEXT DATA", Instruction.putData: "PUT DATA",
        Instruction.importKey: "IMPORT KEY", Instruction.terminate: "TERMINATE", Instruction.getVersion: "GET VERSION",
        Instruction.setRetries: "SET TRIES", Instruction.attest: "ATTEST",
    ]

    package static let tags: [TLV.Tag: TagName] = [
        Tag.applicationIdentifier: "application identifier", Tag.name: .text("name"),
        Tag.loginData: .text("login data"), Tag.cardholder: "cardholder data", Tag.application: "application data",
        Tag.discretionary: "discretionary data objects", Tag.securitySupport: "security support template",
        Tag.signatureCounter: "signature counter", Tag.extendedCapabilities: "extended capabilities",
        Tag.signatureAlgorithm: "signature algorithm", Tag.decryptionAlgorithm: "decryption algorithm",
        Tag.authenticationAlgorithm: "authentication algorithm", Tag.pinStatus: "PIN status",
        Tag.fingerprints: "fingerprints", Tag.authorityFingerprints: "CA fingerprints",
        Tag.generationTimes: "generation times", Tag.signatureTouch: "signature touch policy",
        Tag.decryptionTouch: "decryption touch policy", Tag.authenticationTouch: "authentication touch policy",
        Tag.attestationTouch: "attestation touch policy", Tag.keyInformation: "key information",
        Tag.kdf: "key derivation of PINs", Tag.algorithmInformation: "algorithms supported",
        Tag.language: .text("languages"), Tag.sex: "sex", Tag.url: .text("URL of the public key"),
        Tag.historicalBytes: "historical bytes", Tag.certificate: "certificate",
        Tag.extendedLength: "extended length information", Tag.features: "features",
    ]

    package static let carriers: [UInt8: UnselectedData] = [
        Instruction.putData: .hidden, Instruction.importKey: .hidden,
    ]

    package static let protectedCapability: UInt32? = ManagementProtocol.Capability.openPGP

    /// The secret data objects written with PUT DATA: the resetting code (D3), the key of PSO:ENCIPHER (D5), and the
    /// KDF's hashes of default PINs (F9).
    private static let secretObjects: Set<TLV.Tag> = [Tag.resettingCode, Tag.encipheringKey, Tag.kdf]

    /// The data object that P1 and P2 name.
    package static func object(of command: APDU) -> TLV.Tag {
        TLV.Tag(rawValue: UInt32(command.parameters))
    }

    package static func secrets(in command: APDU, data: [UInt8]) -> [Range<Int>] {
        switch command.ins {
        case Instruction.importKey: SecretRuns.all(data)
        case Instruction.putData where secretObjects.contains(object(of: command)): SecretRuns.all(data)
        default: []
        }
    }

    /// The result of a decipherment or key agreement, and the hashes of the default PINs in the KDF-DO, from which a
    /// PIN is easily guessed.
    package static func secrets(inReply reply: [UInt8], to command: APDU, data: [UInt8]) -> [Range<Int>] {
        if command.ins == Instruction.getData, object(of: command) == Tag.kdf {
            // Some cards prepend the object's own tag.
            let start =
                reply.first.map(UInt32.init) == Tag.kdf.rawValue ? reply.count > 1 && reply[1] > 0x80 ? 3 : 2 : 0
            return SecretRuns.values(of: [KDFTag.userHash, KDFTag.adminHash], in: reply, from: start)
        }
        return command.ins == Instruction.performOperation && command.parameters == Operation.decipher
            ? SecretRuns.all(reply) : []
    }

    /// The data objects whose values read back after a change cannot be assumed.
    private static let unassumable: Set<TLV.Tag> = [
        Tag.signatureTouch, Tag.decryptionTouch, Tag.authenticationTouch, Tag.attestationTouch, Tag.kdf,
    ]

    package static func effect(of command: APDU) -> CommandEffect {
        switch command.ins {
        case Instruction.getData, Instruction.getNextData, Instruction.selectData, Instruction.getVersion,
            Instruction.getChallenge:
            .read
        case Instruction.generateKey: command.p1 == KeyPair.read ? .read : .write(reply: nil)
        case Instruction.verify where command.data.isEmpty: .read
        case Instruction.putData where unassumable.contains(object(of: command)): .write(reply: nil)
        case Instruction.putData, Instruction.verify, Instruction.changeReference, Instruction.resetRetry,
            Instruction.terminate, Instruction.activate, Instruction.setRetries:
            .done
        default: .write(reply: nil)
        }
    }

    /// GET VERSION is Yubico's; these objects may be missing.
    package static func isOptional(_ command: APDU) -> Bool {
        switch command.ins {
        case Instruction.getVersion: true
        case Instruction.getData: optionalObjects.contains(object(of: command))
        default: false
        }
    }

    private static let optionalObjects: Set<TLV.Tag> = [
        Tag.loginData, Tag.url, Tag.cardholder, Tag.securitySupport, Tag.kdf, Tag.algorithmInformation, Tag.pinStatus,
    ]

    /// The certificate that GET DATA 7F21 returns depends on SELECT DATA.
    package static func persistence(of command: APDU) -> ReplyPersistence? {
        switch command.ins {
        case Instruction.getVersion: .content
        case Instruction.generateKey where command.p1 == KeyPair.read: .content
        case Instruction.getData:
            switch object(of: command) {
            case Tag.certificate: nil
            case Tag.application, Tag.pinStatus, Tag.securitySupport: .access
            default: .content
            }
        case Instruction.verify where command.data.isEmpty: .access
        default: nil
        }
    }

    /// An attestation replaces a certificate, but replies with certificates are never kept.
    package static func changesContent(_ command: APDU) -> Bool {
        ![
            Instruction.verify, Instruction.changeReference, Instruction.resetRetry, Instruction.performOperation,
            Instruction.authenticate, Instruction.attest, Instruction.selectData,
        ].contains(command.ins)
    }

    /// The touch policy of a key may require a touch.
    package static func waiting(for command: APDU) -> UserAction? {
        [Instruction.performOperation, Instruction.authenticate, Instruction.attest].contains(command.ins)
            ? .touch : nil
    }
}
