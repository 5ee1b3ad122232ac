// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKWire

/// A program's message to the card, with its effect on the card's session and its user.
struct CardRequest: Hashable, Sendable {
    /// The properties of a message that decide when it may be sent.
    struct Traits: OptionSet, Hashable, Sendable {
        let rawValue: Int
        /// The user must be present.
        static let presence = Traits(rawValue: 1)
        /// Success uses up the user's presence.
        static let signs = Traits(rawValue: 2)
        /// Starts the key agreement on which the PIN and the token rely.
        static let agrees = Traits(rawValue: 4)
        /// Is encrypted under the key agreement: after a different one the card would count a wrong PIN.
        static let encrypted = Traits(rawValue: 8)
        /// Continues an enumeration.
        static let continues = Traits(rawValue: 16)
        /// May be sent again if its answer was lost: it does not depend on state that the card loses.
        static let repeatable = Traits(rawValue: 32)
    }

    /// How a message is handled.
    enum Reading: Hashable, Sendable {
        /// It is sent to the card.
        case request(CardRequest)
        /// It is refused with a CTAPHID error.
        case refused(CTAPHID.ErrorCode)
        /// It is answered without the card.
        case answer([UInt8])
    }

    let message: CTAPHID.Message
    /// The bytes for the card: the message, or the U2F command in it.
    let payload: [UInt8]
    let ceremony: Ceremony
    let traits: Traits

    /// Whether the message is a U2F command.
    var isU2F: Bool { message.command == .msg }
    /// Whether the message asks what the card can do.
    var isInfo: Bool { !isU2F && message.payload == [CTAPProtocol.Command.getInfo] }
    /// Whether the message asks for the version of U2F.
    var isVersion: Bool { isU2F && message.payload.dropFirst().first == FIDOProtocol.Instruction.version }

    /// The CTAP2 status of an answer to the message; a U2F command that failed lacked the user's presence.
    func status(of answer: [UInt8]) -> UInt8 {
        guard isU2F else { return answer.first ?? CTAPProtocol.Status.other }
        return answer.suffix(2) == StatusWord.ok.bytes[...]
            ? CTAPProtocol.Status.ok : CTAPProtocol.Status.userPresenceRequired
    }

    private init(_ message: CTAPHID.Message, _ ceremony: Ceremony, _ traits: Traits, payload: [UInt8]? = nil) {
        (self.message, self.ceremony, self.traits) = (message, ceremony, traits)
        self.payload = payload ?? message.payload
    }

    /// Parses a message. Commands that the standards do not define are refused, since their effect on the card is
    /// unknown.
    static func reading(of message: CTAPHID.Message) -> Reading {
        switch message.command {
        case .cbor: cbor(message)
        case .msg: u2f(message)
        default: .refused(.invalidCommand)
        }
    }

    // MARK: CTAP2

    private typealias Command = CTAPProtocol.Command

    private static func cbor(_ message: CTAPHID.Message) -> Reading {
        guard let command = message.payload.first else { return .refused(.invalidLength) }
        let map = (try? CBOR(decoding: Array(message.payload.dropFirst())))?.map
        switch command {
        case Command.makeCredential: return .request(makeCredential(message, map))
        case Command.getAssertion: return .request(getAssertion(message, map))
        case Command.getNextAssertion: return .request(CardRequest(message, .manage, .continues))
        case Command.getInfo: return .request(CardRequest(message, .manage, .repeatable))
        case Command.clientPIN: return .request(clientPIN(message, map))
        case Command.reset: return .request(CardRequest(message, .reset, [.presence, .signs]))
        case Command.selection: return .request(CardRequest(message, .select, [.presence, .repeatable]))
        case Command.credentialManagement, Command.credentialManagementPreview:
            return .request(CardRequest(message, .manage, isNext(map) ? .continues : []))
        case Command.bioEnrollment, Command.bioEnrollmentPreview, Command.largeBlobs, Command.config:
            return .request(CardRequest(message, .manage, []))
        default: return .answer([CTAPProtocol.Status.invalidCommand])
        }
    }

    /// A request with an empty proof only finds out which key the user touches; nothing is created.
    private static func makeCredential(_ message: CTAPHID.Message, _ map: CBOR.Map?) -> CardRequest {
        typealias Key = CTAPProtocol.MakeCredential.Request
        let proof = map?[Key.pinUvAuthParam]
        if proof == .bytes([]) { return CardRequest(message, .select, [.presence, .repeatable]) }
        let rp = map?[Key.rp]?.map
        let user = map?[Key.user]?.map
        let ceremony = Ceremony.register(
            site: rp?["id"]?.text ?? "?", user: user?["name"]?.text ?? user?["displayName"]?.text)
        let isFree = map != nil && proof == nil && !hasSecret(map?[Key.extensions])
        return CardRequest(message, ceremony, isFree ? [.presence, .signs, .repeatable] : [.presence, .signs])
    }

    /// With the option `up` set to false the card signs without user presence, which is a search for credentials.
    private static func getAssertion(_ message: CTAPHID.Message, _ map: CBOR.Map?) -> CardRequest {
        typealias Key = CTAPProtocol.GetAssertion.Request
        let proof = map?[Key.pinUvAuthParam]
        if proof == .bytes([]) { return CardRequest(message, .select, [.presence, .repeatable]) }
        if let search = map.flatMap({ CredentialSearch($0, dropsExtensions: false) }) {
            return CardRequest(
                message, .search(site: search.site), search.isVerified ? [] : .repeatable, payload: search.message)
        }
        let ceremony = Ceremony.signIn(site: map?[Key.rpId]?.text ?? "?")
        let isFree = map != nil && proof == nil && !hasSecret(map?[Key.extensions])
        return CardRequest(message, ceremony, isFree ? [.presence, .signs, .repeatable] : [.presence, .signs])
    }

    /// Whether the extensions contain a secret encrypted under the key agreement.
    private static func hasSecret(_ extensions: CBOR?) -> Bool {
        ["hmac-secret", "hmac-secret-mc"].contains { extensions?.map?[.text($0)]?.map != nil }
    }

    private static func clientPIN(_ message: CTAPHID.Message, _ map: CBOR.Map?) -> CardRequest {
        typealias Subcommand = CTAPProtocol.ClientPIN.Subcommand
        let number = map?[CTAPProtocol.ClientPIN.Request.subCommand]?.unsigned
        return switch number.flatMap(Subcommand.init(rawValue:)) {
        // libfido2 asks every key for its fingerprint's retries: no use of the PIN, and not reported as one.
        case .getPINRetries, .getUVRetries: CardRequest(message, .manage, .repeatable)
        case .getKeyAgreement: CardRequest(message, .pin, [.agrees, .repeatable])
        default: CardRequest(message, .pin, .encrypted)
        }
    }

    /// Whether credential management continues an enumeration: subcommands 03 and 05.
    private static func isNext(_ map: CBOR.Map?) -> Bool {
        typealias Subcommand = CTAPProtocol.CredentialManagement.Subcommand
        let number = map?[CTAPProtocol.CredentialManagement.Request.subCommand]?.unsigned
        switch number.flatMap(Subcommand.init(rawValue:)) {
        case .enumerateRPsGetNextRP, .enumerateCredentialsGetNextCredential: return true
        default: return false
        }
    }

    // MARK: U2F

    private static func u2f(_ message: CTAPHID.Message) -> Reading {
        guard var apdu = command(message.payload) else { return .answer(StatusWord.wrongLength.bytes) }
        if apdu.ins == FIDOProtocol.Instruction.authenticate, apdu.p1 == FIDOProtocol.Control.checkOnly {
            // A search: a card that signs all the same signs nothing of use.
            apdu.data = CredentialSearch.hash + apdu.data.dropFirst(CredentialSearch.hash.count)
        }
        guard let payload = try? apdu.encoded(.extended) else { return .answer(StatusWord.wrongLength.bytes) }
        guard apdu.cla == 0 else { return .answer(StatusWord.unknownClass.bytes) }
        switch apdu.ins {
        case FIDOProtocol.Instruction.register:
            return .request(
                CardRequest(message, .registerU2F, [.presence, .signs, .repeatable], payload: payload))
        // A request to sign without a touch is no exception: the card would sign anything.
        case FIDOProtocol.Instruction.authenticate where apdu.p1 != FIDOProtocol.Control.checkOnly:
            return .request(CardRequest(message, .signInU2F, [.presence, .signs, .repeatable], payload: payload))
        case FIDOProtocol.Instruction.authenticate, FIDOProtocol.Instruction.version:
            return .request(CardRequest(message, .manage, .repeatable, payload: payload))
        default: return .answer(StatusWord.unknownInstruction.bytes)
        }
    }

    /// Parses a command. python-fido2 (2.2) encodes an extended length of 0 for no data, which keys accept.
    private static func command(_ message: [UInt8]) -> APDU? {
        if let apdu = try? APDU(decoding: message) { return apdu }
        guard message.count == 9, message[4..<7].allSatisfy({ $0 == 0 }) else { return nil }
        return APDU(cla: message[0], ins: message[1], p1: message[2], p2: message[3])
    }
}

extension StatusWord {
    /// The two bytes, most significant first.
    var bytes: [UInt8] { [sw1, sw2] }
}
