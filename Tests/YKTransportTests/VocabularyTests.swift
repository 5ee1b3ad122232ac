// SPDX-License-Identifier: Apache-2.0

import Testing
import YKProtocols
import YKTestSupport
import YKWire

@testable import YKCapture

/// An application of which the program knows nothing but its vocabulary.
private enum SafeProtocol: CardVocabulary {
    static let aid = AID(rawValue: [0xF0, 0x59, 0x4B, 0x49, 0x54, 0x01])
    static let title = "Safe Deposit"

    enum Instruction {
        static let store: UInt8 = 0x51
        static let list: UInt8 = 0x52
        static let more: UInt8 = 0x5F
    }

    enum Tag {
        static let label: TLV.Tag = 0x81
        static let content: TLV.Tag = 0x82
    }

    static let instructions: [UInt8: String] = [
        Instruction.store: "STORE", Instruction.list: "LIST ITEMS", Instruction.more: "MORE",
    ]
    static let tags: [TLV.Tag: TagName] = [Tag.label: .text("label"), Tag.content: "content"]
    static let carriers: [UInt8: UnselectedData] = [Instruction.store: .hidden]
    static let continuation = Instruction.more

    static func secrets(in command: APDU, data: [UInt8]) -> [Range<Int>] {
        command.ins == Instruction.store ? SecretRuns.values(of: [Tag.content], in: data) : []
    }

    static func effect(of command: APDU) -> CommandEffect { command.ins == Instruction.list ? .read : .done }

    static func meaning(of status: StatusWord, for command: APDU) -> String? {
        status == .noSpace ? "the safe is full" : nil
    }
}

/// A new application needs no more than its vocabulary to be narrated, redacted and planned.
@Suite struct VocabularyTests {
    private let applications = CardVocabularies(CardVocabularies.known.all + [SafeProtocol.self])
    private let select = "00a4040006f0594b495401"
    private let store = "005100000a8102686f820473657361"

    private func narrations(_ exchanges: [(String, String)]) throws -> [Narration] {
        var narrator = Narrator(.card, applications)
        return try exchanges.map { command, reply in
            narrator.narrate(Capture.Event(.exchange(command: try Hex.decode(command), reply: try Hex.decode(reply))))
        }
    }

    @Test func isNarratedWithItsNames() throws {
        let told = try narrations([
            (select, "9000"), (store, "6a84"), ("00520000", "8102686f6105"), ("005f0000", "81026a6f9000"),
            ("00530000", "6d00"),
        ])
        expect(told[0].summary, is: "SELECT Safe Deposit → 9000 (ok)")
        expect(told[1].summary, is: "Safe Deposit STORE → 6a84 (the safe is full)")
        expect(told[1].details, is: ["label \"ho\"", "content ‹secret›"])
        expect(told[1].application, is: "Safe Deposit")
        #expect(told[2].summary.hasPrefix("Safe Deposit LIST ITEMS → 6105"))
        expect(told[3].summary, is: "Safe Deposit MORE: the rest of LIST ITEMS → 9000 (ok)")
        expect(told[3].details.suffix(2), is: ["label \"ho\"", "label \"jo\""])
        expect(told[4].summary, is: "unknown instruction 53 of Safe Deposit → 6d00 (unknown instruction)")
    }

    @Test func isRedacted() throws {
        var redactor = Redactor(applications)
        _ = redactor.masks(command: try Hex.decode(select), reply: [0x90, 0x00])
        let masks = redactor.masks(command: try Hex.decode(store), reply: [0x90, 0x00]).command
        expect(masks, is: [.init(offset: 11, length: 4)])
    }

    /// Before a SELECT, and where a secure channel encrypts it, all of the data is secret.
    @Test func isRedactedAsAWholeWhereItIsNotRecognized() throws {
        var redactor = Redactor(applications)
        expect(redactor.masks(command: try Hex.decode(store), reply: []).command, is: [.init(offset: 5, length: 10)])
        _ = redactor.masks(command: try Hex.decode(select), reply: [0x90, 0x00])
        let encrypted = try Hex.decode("0451000003010203")
        expect(redactor.masks(command: encrypted, reply: []).command, is: [.init(offset: 5, length: 3)])
        var others = Redactor()
        expect(others.masks(command: try Hex.decode(store), reply: []).command, is: [])
    }

    @Test func isPlanned() throws {
        let application = applications[AID(rawValue: try Hex.decode("f0594b4954"))]
        #expect(application?.title == "Safe Deposit" && application?.keyword == "safedeposit")
        let effect = { (ins: UInt8) in applications.effect(of: APDU(ins: ins), in: application) }
        expect(effect(SafeProtocol.Instruction.list), is: .read)
        expect(effect(SafeProtocol.Instruction.store), is: .done)
        expect(applications.effect(of: APDU(ins: SafeProtocol.Instruction.list), in: nil), is: .write(reply: nil))
    }
}

/// The tables of this package.
@Suite struct KnownVocabularyTests {
    private let known = CardVocabularies.known.all

    /// A rule for secrets in an instruction that is not declared to carry any would be skipped where the application is
    /// unknown.
    @Test func everyInstructionWithSecretsIsDeclared() {
        let data: [UInt8] = [UInt8](repeating: 0x5A, count: 80)
        for vocabulary in known {
            for ins in UInt8.min...UInt8.max where vocabulary.carriers[ins] == nil {
                for (p1, p2): (UInt8, UInt8) in [(0, 0), (0, 0xD3), (0xFF, 0xFF), (0x3F, 0xFF), (1, 0x9B)] {
                    let command = APDU(ins: ins, p1: p1, p2: p2, data: data)
                    #expect(vocabulary.secrets(in: command, data: data).isEmpty, "\(vocabulary) \(ins)")
                }
            }
        }
    }

    @Test func everyDeclaredInstructionHasAName() {
        for vocabulary in known {
            for ins in vocabulary.carriers.keys { #expect(vocabulary.instructions[ins] != nil, "\(vocabulary) \(ins)") }
        }
        expect(Set(known.map { $0.keyword }).count, is: known.count)
    }

    /// What the user does while a command waits does not show that the command reads: nothing that waits for a touch is
    /// assumed to have succeeded.
    @Test("An application is known by its identifiers, whole, in part, and of older versions")
    func identifiersHaveTitles() {
        #expect(AID.oath.title == "OATH" && AID.piv.title == "PIV" && AID.ndefVersion1.title == "NDEF")
        expect(AID([0xA0, 0x00, 0x00, 0x03, 0x08, 0x00, 0x00, 0x10]).title, is: "PIV")
        expect(AID([1, 2]).title, is: "0102")
        let all = CardVocabularies.applications.flatMap { [$0.aid] + $0.formerAIDs }
        #expect(Set(all).count == all.count && all.allSatisfy { 5...16 ~= $0.rawValue.count })
    }

    @Test func noReplyIsAssumedToACommandThatWaits() {
        for vocabulary in known {
            for ins in UInt8.min...UInt8.max {
                let command = APDU(ins: ins, p2: 0x9A)
                guard vocabulary.waiting(for: command) != nil else { continue }
                #expect(vocabulary.effect(of: command) != .done, "\(vocabulary) \(ins)")
            }
        }
    }

    @Test func ctapKeysHaveTheNamesOfTheSpecification() {
        expect(CTAPProtocol.GetInfo.Reply.namesByNumber[0x1F], is: "authenticatorConfigCommands")
        expect(CTAPProtocol.GetAssertion.Request.namesByNumber[1], is: "rpId")
        expect(CTAPProtocol.ClientPIN.Request.namesByNumber[10], is: "rpId")
        expect(CTAPProtocol.CredentialManagement.Reply.namesByNumber[12], is: "thirdPartyPayment")
        expect(CTAPProtocol.Config.Subcommand.namesByNumber[255], is: "vendorPrototype")
    }

    @Test("CTAP keys and subcommands have the names of their cases")
    func namesOfCases() {
        func check<Number: CTAPNumber>(_ type: Number.Type) {
            for number in Number.allCases { expect(number.name, is: String(describing: number)) }
            expect(Number.names.count, is: Number.allCases.count)
        }
        let types: [any CTAPNumber.Type] = [
            CTAPProtocol.MakeCredential.Request.self, CTAPProtocol.MakeCredential.Reply.self,
            CTAPProtocol.GetAssertion.Request.self, CTAPProtocol.GetAssertion.Reply.self, CTAPProtocol.HMACSecret.self,
            CTAPProtocol.GetInfo.Reply.self, CTAPProtocol.ClientPIN.Request.self, CTAPProtocol.ClientPIN.Reply.self,
            CTAPProtocol.ClientPIN.Subcommand.self, CTAPProtocol.BioEnrollment.Request.self,
            CTAPProtocol.BioEnrollment.Parameters.self, CTAPProtocol.BioEnrollment.Reply.self,
            CTAPProtocol.BioEnrollment.Subcommand.self, CTAPProtocol.CredentialManagement.Request.self,
            CTAPProtocol.CredentialManagement.Parameters.self, CTAPProtocol.CredentialManagement.Reply.self,
            CTAPProtocol.CredentialManagement.Subcommand.self, CTAPProtocol.LargeBlobs.Request.self,
            CTAPProtocol.LargeBlobs.Reply.self, CTAPProtocol.LargeBlobs.Entry.self,
            CTAPProtocol.Config.Parameters.self, CTAPProtocol.Config.Subcommand.self,
        ]
        for type in types { check(type) }
    }
}
