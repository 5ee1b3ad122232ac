// SPDX-License-Identifier: Apache-2.0

public import YKWire

extension AID {
    /// PIV (NIST SP 800-73-4).
    public static let piv = AID(rawValue: [0xA0, 0x00, 0x00, 0x03, 0x08])
}

/// PIV (NIST SP 800-73-4 Part 2), with Yubico's extensions.
package enum PIVProtocol: CardVocabulary {
    package static var aid: AID { .piv }
    package static let title = "PIV"

    /// The instruction bytes (NIST SP 800-73-4 Part 2 §3; Yubico's from F6 on).
    package enum Instruction {
        package static let verify: UInt8 = 0x20
        package static let changeReference: UInt8 = 0x24
        package static let resetRetry: UInt8 = 0x2C
        package static let generate: UInt8 = 0x47
        package static let authenticate: UInt8 = 0x87
        package static let getData: UInt8 = 0xCB
        package static let putData: UInt8 = 0xDB
        package static let moveKey: UInt8 = 0xF6
        package static let getMetadata: UInt8 = 0xF7
        package static let getSerial: UInt8 = 0xF8
        package static let attest: UInt8 = 0xF9
        package static let setRetries: UInt8 = 0xFA
        package static let reset: UInt8 = 0xFB
        package static let getVersion: UInt8 = 0xFD
        package static let importKey: UInt8 = 0xFE
        package static let setManagementKey: UInt8 = 0xFF
    }

    /// The tags of data objects (NIST SP 800-73-4 Part 2).
    package enum Tag {
        package static let objectID: TLV.Tag = 0x5C
        package static let content: TLV.Tag = 0x53
        package static let dynamic: TLV.Tag = 0x7C
        package static let witness: TLV.Tag = 0x80
        package static let challenge: TLV.Tag = 0x81
        package static let response: TLV.Tag = 0x82
        package static let exponentiation: TLV.Tag = 0x85
        package static let template: TLV.Tag = 0xAC
        package static let algorithm: TLV.Tag = 0x80
        package static let pinPolicy: TLV.Tag = 0xAA
        package static let touchPolicy: TLV.Tag = 0xAB
        package static let publicKey: TLV.Tag = 0x7F49
        package static let modulus: TLV.Tag = 0x81
        package static let exponent: TLV.Tag = 0x82
        package static let point: TLV.Tag = 0x86
        package static let discovery: TLV.Tag = 0x7E
        package static let certificate: TLV.Tag = 0x70
        package static let certificateInformation: TLV.Tag = 0x71
        package static let errorDetection: TLV.Tag = 0xFE
        package static let applicationIdentifier: TLV.Tag = 0x4F
        package static let pinUsagePolicy: TLV.Tag = 0x5F2F
        package static let applicationProperties: TLV.Tag = 0x61
        package static let authority: TLV.Tag = 0x79
        /// The algorithm's number in SET MANAGEMENT KEY's data object.
        package static let managementKey: TLV.Tag = 0x9B
    }

    /// The tags of GET METADATA's reply (Yubico).
    package enum MetadataTag {
        package static let algorithm: TLV.Tag = 0x01
        package static let policies: TLV.Tag = 0x02
        package static let origin: TLV.Tag = 0x03
        package static let publicKey: TLV.Tag = 0x04
        package static let isDefault: TLV.Tag = 0x05
        package static let retries: TLV.Tag = 0x06
        package static let hasFingerprint: TLV.Tag = 0x07
        package static let hasTemporaryPIN: TLV.Tag = 0x08
    }

    /// The references of PINs, in P2.
    package enum Reference {
        package static let globalPIN: UInt8 = 0x00
        package static let pin: UInt8 = 0x80
        package static let puk: UInt8 = 0x81
        package static let fingerprint: UInt8 = 0x96
        package static let all: Set<UInt8> = [globalPIN, pin, puk, fingerprint]
    }

    /// The references of keys (NIST SP 800-73-4 Part 1, Table 4b; F9 is Yubico's).
    package enum Slot {
        package static let authentication: UInt8 = 0x9A
        package static let management: UInt8 = 0x9B
        package static let signature: UInt8 = 0x9C
        package static let keyManagement: UInt8 = 0x9D
        package static let cardAuthentication: UInt8 = 0x9E
        package static let attestation: UInt8 = 0xF9
        /// Retired key management 1 to 20.
        package static let retired: ClosedRange<UInt8> = 0x82...0x95

        /// The name of a slot other than a retired one.
        package static func name(_ number: UInt8) -> String? {
            switch number {
            case authentication: "authentication"
            case management: "management key"
            case signature: "signature"
            case keyManagement: "key management"
            case cardAuthentication: "card authentication"
            case attestation: "attestation"
            default: nil
            }
        }

        /// 1 to 20 for a retired slot.
        package static func retiredNumber(_ number: UInt8) -> UInt8? {
            retired.contains(number) ? number - retired.lowerBound + 1 : nil
        }
    }

    /// The algorithm identifiers of RSA 1024, 2048, 3072 and 4096.
    package static let rsaAlgorithms: Set<UInt8> = [0x06, 0x07, 0x05, 0x16]
    /// P1 and P2 of GET DATA and PUT DATA: the objects of the current application.
    package static let currentObjects: (p1: UInt8, p2: UInt8) = (0x3F, 0xFF)
    /// P1 of MOVE KEY that deletes the key.
    package static let deleted: UInt8 = 0xFF

    package static let instructions: [UInt8: String] = [
        Instruction.verify: "VERIFY", Instruction.changeReference: "CHANGE REFERENCE DATA",
        Instruction.resetRetry: "RESET RETRY COUNTER", Instruction.generate: "GENERATE KEY PAIR",
        Instruction.authenticate: "GENERAL AUTHENTICATE", Instruction.getData: "GET DATA",
        Instruction.putData: "PUT DATA", Instruction.moveKey: "MOVE KEY", Instruction.getMetadata: "GET METADATA",
        Instruction.getSerial: "GET SERIAL", Instruction.attest: "ATTEST", Instruction.setRetries: "SET TRIES",
        Instruction.reset: "RESET", Instruction.getVersion: "GET VERSION", Instruction.importKey: "IMPORT KEY",
        Instruction.setManagementKey: "SET MANAGEMENT KEY",
    ]

    package static let carriers: [UInt8: UnselectedData] = [
        Instruction.importKey: .hidden, Instruction.setManagementKey: .hidden, Instruction.authenticate: .located,
        Instruction.putData: .located,
    ]

    package static let protectedCapability: UInt32? = ManagementProtocol.Capability.piv

    /// The tag list of the printed information, 5FC109, where ykman and ykit store a management key.
    package static let printedObject: [UInt8] = [0x5C, 0x03, 0x5F, 0xC1, 0x09]

    /// PINs, private keys, management keys, and everything computed with a management key: it may be derived from a
    /// PIN, and a challenge together with its response allows guessing that off-line.
    package static func secrets(in command: APDU, data: [UInt8]) -> [Range<Int>] {
        switch command.ins {
        case Instruction.importKey: SecretRuns.all(data)
        case Instruction.setManagementKey: SecretRuns.from(3, data)
        case Instruction.putData:
            printedObject.starts(with: data.prefix(printedObject.count))
                ? SecretRuns.from(printedObject.count, data) : []
        case Instruction.authenticate where command.p2 == Slot.management:
            dynamic(of: [Tag.witness, Tag.response], in: data)
        default: []
        }
    }

    package static func secrets(inReply reply: [UInt8], to command: APDU, data: [UInt8]) -> [Range<Int>] {
        switch command.ins {
        case Instruction.getData:
            return data.starts(with: printedObject) ? SecretRuns.from(contentOffset(reply), reply) : []
        case Instruction.verify: return SecretRuns.all(reply)  // A temporary PIN (YubiKey Bio).
        case Instruction.authenticate where command.p2 == Slot.management:
            return dynamic(of: [Tag.response], in: reply)
        case Instruction.authenticate where isSecret(command, data):
            let offset = dynamicOffset(reply)
            return SecretRuns.from(offset, reply)
        default: return []
        }
    }

    package static func isProof(_ command: APDU) -> Bool {
        command.ins == Instruction.authenticate && command.p2 == Slot.management
    }

    /// GET DATA and PUT DATA with a tag list: programs that find PIV already selected, as OpenSC does, use its objects
    /// at once.
    package static func isOwn(_ command: APDU, data: [UInt8]) -> Bool {
        (command.ins == Instruction.getData || command.ins == Instruction.putData)
            && (command.p1, command.p2) == currentObjects && data.first.map(UInt32.init) == Tag.objectID.rawValue
    }

    /// Authenticating with the management key changes nothing, because it has no retry counter; verifying a PIN does.
    package static func effect(of command: APDU) -> CommandEffect {
        switch command.ins {
        case Instruction.getData, Instruction.getMetadata, Instruction.getSerial, Instruction.attest,
            Instruction.getVersion:
            .read
        case Instruction.verify where command.data.isEmpty && command.p1 == 0: .read
        case Instruction.authenticate where command.p2 == Slot.management: .read
        case Instruction.generate, Instruction.authenticate: .write(reply: nil)
        default: .done
        }
    }

    /// Yubico's extensions, and the objects that a card need not have.
    package static func isOptional(_ command: APDU) -> Bool {
        switch command.ins {
        case Instruction.getVersion, Instruction.getSerial, Instruction.getMetadata: true
        case Instruction.getData: optionalObjects.contains(command.data)
        default: false
        }
    }

    /// Discovery object, card holder unique identifier, capability container, and ykman's administrative data, each as
    /// a tag list.
    private static let optionalObjects: Set<[UInt8]> = [
        [0x5C, 0x01, 0x7E], [0x5C, 0x03, 0x5F, 0xC1, 0x02], [0x5C, 0x03, 0x5F, 0xC1, 0x07],
        [0x5C, 0x03, 0x5F, 0xFF, 0x00],
    ]

    package static func persistence(of command: APDU) -> ReplyPersistence? {
        switch command.ins {
        case Instruction.getVersion, Instruction.getSerial, Instruction.getData, Instruction.attest: .content
        case Instruction.getMetadata: Reference.all.contains(command.p2) ? .access : .content
        case Instruction.verify where command.data.isEmpty && command.p1 == 0: .access
        default: nil
        }
    }

    package static func changesContent(_ command: APDU) -> Bool {
        ![Instruction.verify, Instruction.authenticate, Instruction.changeReference, Instruction.resetRetry]
            .contains(command.ins)
    }

    /// The touch policy of a key, or of the management key, may require a touch.
    package static func waiting(for command: APDU) -> UserAction? {
        switch command.ins {
        case Instruction.authenticate: .touch
        case Instruction.verify where command.p2 == Reference.fingerprint: .fingerprint
        default: nil
        }
    }

    package static func meaning(of status: StatusWord, for command: APDU) -> String? {
        switch (status, command.ins) {
        case (.ok, Instruction.verify) where command.data.isEmpty && command.p1 != 0xFF: "already verified"
        case (.referenceNotFound, Instruction.verify), (.referenceNotFound, Instruction.getMetadata):
            "no such PIN, PUK or key"
        case (.notFound, Instruction.getData): "no such object"
        case (.authenticationBlocked, _): "blocked, no tries left"
        default: nil
        }
    }

    /// Whether a private key agrees on a secret or may be decrypting: an RSA operation on a value without PKCS#1 v1.5
    /// signature padding can be either.
    private static func isSecret(_ command: APDU, _ data: [UInt8]) -> Bool {
        guard command.cla & 0x10 == 0 else { return false }
        guard let template = (try? TLV.list(data))?.value(Tag.dynamic), let fields = try? TLV.list(template) else {
            return true
        }
        if fields.value(Tag.exponentiation) != nil { return true }
        let isPadded = fields.value(Tag.challenge).map { $0.starts(with: [0x00, 0x01, 0xFF]) } ?? true
        return rsaAlgorithms.contains(command.p1) && !isPadded
    }

    /// The offset of the response value in a dynamic authentication template, so that a replay can read the headers; 0
    /// when there is none.
    private static func dynamicOffset(_ reply: [UInt8]) -> Int {
        var reader = ByteReader(reply)
        for tag in [Tag.dynamic, Tag.response] {
            guard (try? reader.tlvTag()) == tag, (try? reader.tlvLength()) != nil else { return 0 }
        }
        return reader.offset
    }

    /// The offset of a data object's content; 0 when there is none.
    private static func contentOffset(_ reply: [UInt8]) -> Int {
        var reader = ByteReader(reply)
        guard (try? reader.tlvTag()) == Tag.content, (try? reader.tlvLength()) != nil else { return 0 }
        return reader.offset
    }

    /// The values with these tags in a dynamic authentication template; the whole template when it cannot be read.
    private static func dynamic(of tags: Set<TLV.Tag>, in data: [UInt8]) -> [Range<Int>] {
        guard !data.isEmpty else { return [] }
        var reader = ByteReader(data)
        guard (try? reader.tlvTag()) == Tag.dynamic, (try? reader.tlvLength()) != nil else {
            return SecretRuns.all(data)
        }
        return SecretRuns.values(of: tags, in: data, from: reader.offset)
    }
}
