// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// What a card application calls things, what its commands do and where their secrets are: facts shared by services, the
/// virtual key, recordings, plans and narration. Each conforming type also holds the application's instruction bytes and
/// tags.
///
/// Names are shared, codecs are not: the virtual key parses commands for itself.
package protocol CardVocabulary: SendableMetatype {
    /// The application identifier used in SELECT.
    static var aid: AID { get }

    /// Identifiers of older versions of the application.
    static var formerAIDs: [AID] { get }

    /// The usual name.
    static var title: String { get }

    /// The name on the command line; by default the usual name in lower case without spaces.
    static var keyword: String { get }

    /// The names of the instructions in the specification's words.
    static var instructions: [UInt8: String] { get }

    /// The names of the data objects in commands and replies; empty if the data has a different form.
    static var tags: [TLV.Tag: TagName] { get }

    /// The instruction that fetches the rest of a long reply.
    static var continuation: UInt8 { get }

    /// The instructions whose data can have secrets, and what counts as secret while it is unknown which application is
    /// selected. If such a command cannot be parsed at all, all of its data is secret.
    static var carriers: [UInt8: UnselectedData] { get }

    /// The application's bit in Yubico's device information, if keys of the FIPS series offer it over NFC only through a
    /// secure channel.
    static var protectedCapability: UInt32? { get }

    /// The name of a command, by its header; `nil` for an unknown one.
    static func name(of command: APDU) -> String?

    /// The secret byte ranges in the data field of a command.
    ///
    /// - Parameters:
    ///   - command: The header of the command, with this part of the data.
    ///   - data: The data known so far; for a chained command all parts up to this one.
    static func secrets(in command: APDU, data: [UInt8]) -> [Range<Int>]

    /// The secret byte ranges in the data field of a reply.
    ///
    /// - Parameters:
    ///   - reply: The reply data known so far, without the status word; for a chained reply all parts up to this one.
    ///   - command: The header of the command that it answers.
    ///   - data: All data of that command.
    static func secrets(inReply reply: [UInt8], to command: APDU, data: [UInt8]) -> [Range<Int>]

    /// Whether a reply with secrets is not simply the result of the command: a proof that services can do without, or a
    /// message of which they may not need every part.
    static func isProof(_ command: APDU) -> Bool

    /// Whether only this application has a command, which can then be recognized without a SELECT.
    static func isOwn(_ command: APDU, data: [UInt8]) -> Bool

    /// Whether a command reads or changes the application.
    static func effect(of command: APDU) -> CommandEffect

    /// Whether an operation can do without the answer to a command: an extension of one maker, or a data object that a
    /// card need not have. Whatever a card answers to it, the operation continues.
    static func isOptional(_ command: APDU) -> Bool

    /// How long a card gives the same answer to a command; `nil` if each answer may differ.
    static func persistence(of command: APDU) -> ReplyPersistence?

    /// Whether a command may change what is stored; otherwise it changes at most what was verified, and counters.
    static func changesContent(_ command: APDU) -> Bool

    /// What the user may have to do before the key answers a command; `nil` for commands that never wait.
    static func waiting(for command: APDU) -> UserAction?

    /// The meaning of a status word for a command, if more specific than its general meaning.
    static func meaning(of status: StatusWord, for command: APDU) -> String?
}

extension CardVocabulary {
    package static var formerAIDs: [AID] { [] }
    package static var keyword: String { title.lowercased().filter { $0 != " " } }
    package static var tags: [TLV.Tag: TagName] { [:] }
    package static var continuation: UInt8 { ISO7816.getResponse }
    package static var carriers: [UInt8: UnselectedData] { [:] }
    package static var protectedCapability: UInt32? { nil }
    package static func name(of command: APDU) -> String? { instructions[command.ins] }
    package static func secrets(in command: APDU, data: [UInt8]) -> [Range<Int>] { [] }
    package static func secrets(inReply reply: [UInt8], to command: APDU, data: [UInt8]) -> [Range<Int>] { [] }
    package static func isProof(_ command: APDU) -> Bool { false }
    package static func isOwn(_ command: APDU, data: [UInt8]) -> Bool { false }
    package static func effect(of command: APDU) -> CommandEffect { .write(reply: nil) }
    package static func isOptional(_ command: APDU) -> Bool { false }
    package static func persistence(of command: APDU) -> ReplyPersistence? { nil }
    package static func changesContent(_ command: APDU) -> Bool { true }
    package static func waiting(for command: APDU) -> UserAction? { nil }
    package static func meaning(of status: StatusWord, for command: APDU) -> String? { nil }
}

/// The name of a data object.
package struct TagName: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The name.
    package let text: String
    /// Whether the value is UTF-8 text.
    package let isText: Bool

    package init(stringLiteral value: String) {
        text = value
        isText = false
    }

    private init(_ text: String, isText: Bool) {
        self.text = text
        self.isText = isText
    }

    /// The name of a data object whose value is a text.
    package static func text(_ name: String) -> TagName { TagName(name, isText: true) }
}

/// What counts as secret in the data of an instruction while it is unknown which application is selected.
package enum UnselectedData: Hashable, Sendable {
    /// All of it, because the instruction carries secrets in one application and means something else in another.
    case hidden
    /// The ranges found by the application's rule, which recognizes its own commands by their content.
    case located
    /// Nothing, because another application's command without secrets is more likely.
    case shown
}

/// What the user has to do while the key waits.
package enum UserAction: Hashable, Sendable {
    /// Touch the key.
    case touch
    /// Put a finger on the sensor, to be enrolled.
    case enrolment
    /// Put an enrolled finger on the sensor.
    case fingerprint
}

/// Whether a command only reads, or changes the key.
package enum CommandEffect: Hashable, Sendable {
    /// Nothing on the key changes.
    case read
    /// Something changes. `reply` is the reply to assume when the command is not sent; `nil` when none can be assumed.
    case write(reply: [UInt8]?)

    /// A change answered with 9000 and no data.
    package static let done = CommandEffect.write(reply: [0x90, 0x00])
}

/// How long a card gives the same answer to a command.
package enum ReplyPersistence: Hashable, Sendable {
    /// Until a command changes what is stored.
    case content
    /// Until any command that is not a read: the answer has retries, counters, or what was verified.
    case access
}

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
