// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// The card applications that a program knows.
package struct CardVocabularies: Sendable {
    /// The vocabularies in the order in which an ambiguous identifier is resolved.
    package let all: [any CardVocabulary.Type]
    /// Every instruction whose data can have secrets, in any application.
    package let carriers: Set<UInt8>
    /// The instructions whose data is secret while it is unknown which application is selected.
    package let hidden: Set<UInt8>
    /// The instructions that fetch the rest of a long reply, in any application.
    package let continuations: Set<UInt8>
    /// The applications whose commands can be recognized without a SELECT.
    package let recognizable: [any CardVocabulary.Type]

    /// Creates a set of applications.
    package init(_ all: [any CardVocabulary.Type]) {
        self.all = all
        let rules = all.flatMap { Array($0.carriers) }
        carriers = ISO7816.secretInstructions.union(rules.map { $0.key })
        hidden = Set(rules.filter { $0.value == .hidden }.map { $0.key })
        continuations = Set(all.map { $0.continuation }).union([ISO7816.getResponse])
        recognizable = all.filter { $0.carriers.values.contains(.located) }
    }

    /// The applications of this package; a new service adds its vocabulary here.
    package static let applications: [any CardVocabulary.Type] = [
        OATHProtocol.self, FIDOProtocol.self, OTPProtocol.self, ManagementProtocol.self, PIVProtocol.self,
        OpenPGPProtocol.self, HSMAuthProtocol.self, SecurityDomainProtocol.self, NDEFProtocol.self,
        CanoKeyProtocol.self,
    ]

    /// These applications with what is derived from all their tables.
    package static let known = CardVocabularies(applications)

    /// The vocabulary of the application that a SELECT with this identifier names; `nil` for one that is unknown.
    package subscript(aid: AID?) -> (any CardVocabulary.Type)? { aid.flatMap(all.application) }

    /// The only application that has a command, for use when none was selected.
    package func owner(of command: APDU, data: [UInt8]) -> (any CardVocabulary.Type)? {
        all.first { $0.isOwn(command, data: data) }
    }

    /// Whether a command reads or changes the key; a command of an unknown application counts as a change.
    package func effect(of command: APDU, in applet: (any CardVocabulary.Type)?) -> CommandEffect {
        if command.ins == ISO7816.select && command.p1 == 0x04 || command.ins == ISO7816.getResponse { return .read }
        return applet?.effect(of: command) ?? .write(reply: nil)
    }

    /// Whether some application regards the reply to a command as a proof.
    package func isProof(_ command: APDU) -> Bool { all.contains { $0.isProof(command) } }
}

extension [any CardVocabulary.Type] {
    /// The vocabulary of the application that a SELECT with this identifier names; `nil` for one that is unknown.
    package func application(_ aid: AID) -> (any CardVocabulary.Type)? {
        first { $0.aid == aid || $0.formerAIDs.contains(aid) } ?? first { $0.aid.matches(aid.rawValue) }
    }
}

extension AID {
    /// The usual name of the application, else the bytes in hexadecimal.
    public var title: String { CardVocabularies.applications.application(self)?.title ?? description }
}
