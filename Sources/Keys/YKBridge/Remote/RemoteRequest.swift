// SPDX-License-Identifier: Apache-2.0

package import YKFIDO
import YKProtocols
import YKWire

/// A CTAP2 message from the far end. It is parsed, and a new message with only the known members and extensions is sent
/// to the key: nothing else reaches the key, and the user sees exactly what the key gets.
package struct RemoteRequest: Hashable, Sendable {
    /// An action that a message requests.
    package enum Action: Hashable, Sendable {
        /// A credential.
        case register(RelayedCeremony)
        /// An assertion.
        case signIn(RelayedCeremony)
        /// An assertion without user presence, which reveals whether a credential exists.
        case search(CredentialSearch)
        /// The next assertion.
        case next
        /// A touch; the answer has this status.
        case select(status: UInt8)
        /// The key's public key for key agreement.
        case read([UInt8])
        /// Something that the far end does not learn of the key; the answer is always this one.
        case answer([UInt8])
        /// A command that the far end may not use, by its name in the standard.
        case forbidden(String)
        /// A U2F message, which only programs of this machine can send.
        case u2f(U2FRequest)
    }

    /// A malformed message, which is refused without a decision.
    package struct Malformed: Error, Hashable, Sendable {
        /// The CTAP2 status of the answer.
        package let status: UInt8
    }

    /// The requested action.
    package let action: Action
    /// The ceremony shown to the user; `nil` if there is none.
    package let ceremony: Ceremony?

    private init(_ action: Action, _ ceremony: Ceremony? = nil) { (self.action, self.ceremony) = (action, ceremony) }

    /// Wraps a U2F message.
    ///
    /// - Parameter site: The name behind the hash of its application, if it is known.
    init(u2f: U2FRequest, site: String?) { self.init(.u2f(u2f), u2f.ceremony(site)) }

    private typealias Command = CTAPProtocol.Command
    private typealias Status = CTAPProtocol.Status

    /// Reads a message.
    package init(_ message: [UInt8]) throws(Malformed) {
        guard let command = message.first else { throw Malformed(status: Status.invalidLength) }
        switch command {
        case Command.makeCredential: self = try Self.makeCredential(try Self.map(message))
        case Command.getAssertion: self = try Self.getAssertion(try Self.map(message))
        case Command.getNextAssertion: self.init(.next)
        case Command.clientPIN: self = try Self.clientPIN(try Self.map(message))
        case Command.selection: self.init(.select(status: Status.ok), .select)
        case Command.reset: self.init(.forbidden("reset"))
        case Command.credentialManagement, Command.credentialManagementPreview:
            self.init(.forbidden("credentialManagement"))
        case Command.bioEnrollment, Command.bioEnrollmentPreview: self.init(.forbidden("bioEnrollment"))
        case Command.largeBlobs: self.init(.forbidden("largeBlobs"))
        case Command.config: self.init(.forbidden("config"))
        default: throw Malformed(status: Status.invalidCommand)
        }
    }

    private static func map(_ message: [UInt8]) throws(Malformed) -> CBOR.Map {
        guard let map = (try? CBOR(decoding: Array(message.dropFirst())))?.map else {
            throw Malformed(status: Status.invalidCBOR)
        }
        return map
    }

    // MARK: registration

    private static func makeCredential(_ map: CBOR.Map) throws(Malformed) -> RemoteRequest {
        typealias Key = CTAPProtocol.MakeCredential.Request
        if try isSelection(map[Key.pinUvAuthParam]) {
            // The answer of a key without a PIN (CTAP 2.2 §6.1.2, step 1).
            return RemoteRequest(.select(status: Status.pinNotSet), .select)
        }
        let hash = try hash(map[Key.clientDataHash])
        let site = try required(try required(map[Key.rp], \.map)["id"], \.text)
        let user = try required(map[Key.user], \.map)
        _ = try required(user["id"], \.bytes)
        let algorithms = try rebuilt(try required(map[Key.pubKeyCredParams], \.array), ["alg", "type"])
        let options = map[Key.options]?.map ?? CBOR.Map()
        if options["up"]?.bool == false { throw Malformed(status: Status.invalidOption) }
        var parameters: CBOR.Map = [
            Key.clientDataHash.cbor: .bytes(hash),
            Key.rp.cbor: .map(try texts(["id", "name"], of: map[Key.rp]?.map ?? CBOR.Map())),
            Key.user.cbor: .map(try texts(["name", "displayName"], of: user, with: "id")),
            Key.pubKeyCredParams.cbor: algorithms,
        ]
        if let list = map[Key.excludeList]?.array, !list.isEmpty {
            parameters[Key.excludeList] = try rebuilt(list, descriptor)
        }
        let extensions = known(PresentedInfo.creationExtensions, of: map[Key.extensions]?.map ?? CBOR.Map())
        if !extensions.isEmpty { parameters[Key.extensions] = .map(extensions) }
        if let resident = options["rk"]?.bool { parameters[Key.options] = ["rk": .bool(resident)] }
        let ceremony = RelayedCeremony(
            isCreation: true, rpID: site, clientDataHash: hash, parameters: parameters,
            verification: options["uv"]?.bool == true ? .required : .discouraged)
        return RemoteRequest(
            .register(ceremony), .register(site: site, user: user["name"]?.text ?? user["displayName"]?.text))
    }

    // MARK: assertions

    private static func getAssertion(_ map: CBOR.Map) throws(Malformed) -> RemoteRequest {
        typealias Key = CTAPProtocol.GetAssertion.Request
        if try isSelection(map[Key.pinUvAuthParam]) {
            return RemoteRequest(.select(status: Status.pinNotSet), .select)
        }
        let hash = try hash(map[Key.clientDataHash])
        let site = try required(map[Key.rpId], \.text)
        var parameters: CBOR.Map = [Key.rpId.cbor: .text(site), Key.clientDataHash.cbor: .bytes(hash)]
        if let list = map[Key.allowList]?.array, !list.isEmpty {
            parameters[Key.allowList] = try rebuilt(list, descriptor)
        }
        let options = map[Key.options]?.map ?? CBOR.Map()
        parameters[Key.options] = map[Key.options]
        if let search = CredentialSearch(parameters, dropsExtensions: true) {
            return RemoteRequest(.search(search), .search(site: site))
        }
        parameters[Key.options] = nil
        let extensions = known(PresentedInfo.assertionExtensions, of: map[Key.extensions]?.map ?? CBOR.Map())
        if !extensions.isEmpty { parameters[Key.extensions] = .map(extensions) }
        let ceremony = RelayedCeremony(
            isCreation: false, rpID: site, clientDataHash: hash, parameters: parameters,
            verification: options["uv"]?.bool == true ? .required : .discouraged)
        let isSecret = extensions["hmac-secret"] != nil
        return RemoteRequest(.signIn(ceremony), isSecret ? .deriveSecret(site: site) : .signIn(site: site))
    }

    /// Whether a proof is empty, which requests only a touch. No other proof can be valid, since the far end is never
    /// given a token.
    private static func isSelection(_ proof: CBOR?) throws(Malformed) -> Bool {
        guard let proof else { return false }
        guard proof == .bytes([]) else { throw Malformed(status: Status.pinAuthInvalid) }
        return true
    }

    // MARK: the PIN

    private static func clientPIN(_ map: CBOR.Map) throws(Malformed) -> RemoteRequest {
        typealias Key = CTAPProtocol.ClientPIN.Request
        typealias Subcommand = CTAPProtocol.ClientPIN.Subcommand
        let number = try required(map[Key.subCommand], \.unsigned)
        guard let subcommand = Subcommand(rawValue: number) else { throw Malformed(status: Status.invalidSubcommand) }
        switch subcommand {
        // Numbers that no failure changes: whether the user mistook the PIN is not the far end's to know.
        case .getPINRetries: return answer([CTAPProtocol.ClientPIN.Reply.pinRetries.cbor: 8])
        case .getUVRetries: return answer([CTAPProtocol.ClientPIN.Reply.uvRetries.cbor: 3])
        case .getKeyAgreement:
            var parameters: CBOR.Map = [Key.subCommand.cbor: .unsigned(number)]
            parameters[Key.pinUvAuthProtocol] = map[Key.pinUvAuthProtocol]?.unsigned.map(CBOR.unsigned)
            return RemoteRequest(.read([Command.clientPIN] + CBOR.map(parameters).encoded))
        default: return RemoteRequest(.forbidden("clientPIN \(subcommand.name)"))
        }
    }

    private static func answer(_ map: CBOR.Map) -> RemoteRequest {
        RemoteRequest(.answer([Status.ok] + CBOR.map(map).encoded))
    }

    // MARK: members

    /// The members of the description of a credential.
    private static let descriptor = ["id", "type", "transports"]

    /// The items of a list with these members and no others.
    private static func rebuilt(_ list: [CBOR], _ names: [String]) throws(Malformed) -> CBOR {
        var items: [CBOR] = []
        for item in list { items.append(.map(known(names, of: try required(item, \.map)))) }
        return .array(items)
    }

    /// The members of a map that have these names and are texts, and one that is not.
    private static func texts(
        _ names: [String], of map: CBOR.Map, with other: String? = nil
    ) throws(Malformed) -> CBOR.Map {
        let found = known(names, of: map)
        for entry in found.entries { _ = try required(entry.value, \.text) }
        return known(names + [other].compactMap(\.self), of: map)
    }

    private static func hash(_ item: CBOR?) throws(Malformed) -> [UInt8] {
        let hash = try required(item, \.bytes)
        guard hash.count == 32 else { throw Malformed(status: Status.invalidParameter) }
        return hash
    }

    private static func required<Value>(
        _ item: CBOR?, _ kind: (CBOR) -> Value?
    ) throws(Malformed) -> Value {
        guard let item else { throw Malformed(status: Status.missingParameter) }
        guard let value = kind(item) else { throw Malformed(status: Status.cborUnexpectedType) }
        return value
    }

    /// The members of a map that have these names.
    private static func known(_ names: [String], of map: CBOR.Map) -> CBOR.Map {
        var found = CBOR.Map()
        for name in names { found[.text(name)] = map[.text(name)] }
        return found
    }
}
