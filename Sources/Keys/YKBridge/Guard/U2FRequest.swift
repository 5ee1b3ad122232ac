// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKFIDO
import YKProtocols
package import YKWire

/// A U2F message (FIDO U2F Raw Message Formats 1.2) of a program, as it is sent to the key.
package struct U2FRequest: Hashable, Sendable {
    /// What a message asks for.
    package enum Action: Hashable, Sendable {
        /// A credential.
        case register
        /// A signature.
        case signIn
        /// Whether a key handle is the key's. Nothing of use is signed: the challenge is the guard's own.
        case check
        /// The version, which needs no key.
        case version
    }

    /// What the message asks for.
    package let action: Action
    /// The command for the key.
    package let command: APDU
    /// SHA-256 of the application's identifier, 32 bytes; empty for ``Action/version``.
    package let application: [UInt8]

    /// How a message is handled.
    package enum Reading {
        /// It is sent to the key.
        case request(U2FRequest)
        /// It is answered without the key.
        case answer([UInt8])
    }

    /// Reads a message. A signature without a touch is one with a touch.
    package static func reading(_ message: [UInt8]) -> Reading {
        let payload: [UInt8]
        switch CardRequest.reading(of: .init(.msg, on: .broadcast, message)) {
        case .request(let request): payload = request.payload
        case .answer(let answer): return .answer(answer)
        case .refused: return .answer(StatusWord.aborted.bytes)
        }
        guard var command = try? APDU(decoding: payload) else { return .answer(StatusWord.wrongLength.bytes) }
        let hash = Array(command.data.dropFirst(U2F.hashSize).prefix(U2F.hashSize))
        let action: Action
        switch command.ins {
        case FIDOProtocol.Instruction.version: return .request(.init(action: .version, command, application: []))
        case FIDOProtocol.Instruction.register: action = .register
        case _ where command.p1 == FIDOProtocol.Control.checkOnly: action = .check
        default:
            action = .signIn
            command.p1 = FIDOProtocol.Control.enforcePresence
        }
        guard hash.count == U2F.hashSize else { return .answer(StatusWord.wrongLength.bytes) }
        return .request(.init(action: action, command, application: hash))
    }

    /// Whether a program asks again while the user is awaited. The answer to that, 6985, would be "known" for a check.
    static func awaitsUser(_ message: [UInt8]) -> Bool {
        guard case .request(let request) = reading(message) else { return false }
        return request.action == .register || request.action == .signIn
    }

    private init(action: Action, _ command: APDU, application: [UInt8]) {
        (self.action, self.command, self.application) = (action, command, application)
    }

    /// The question whether the key handle is the key's, as a message.
    var checked: APDU {
        var command = command
        command.p1 = FIDOProtocol.Control.checkOnly
        command.data = CredentialSearch.hash + command.data.dropFirst(CredentialSearch.hash.count)
        return command
    }

    /// The ceremony to show.
    ///
    /// - Parameter site: The name behind the hash, if it is known.
    func ceremony(_ site: String?) -> Ceremony? {
        switch action {
        case .register: site.map { .register(site: $0, user: nil) } ?? .registerU2F
        case .signIn: site.map { .signIn(site: $0) } ?? .signInU2F
        case .check, .version: nil
        }
    }

    /// The answer that tells a program about a CTAP2 status.
    static func answer(_ status: UInt8) -> [UInt8] {
        typealias Status = CTAPProtocol.Status
        let word: StatusWord =
            switch status {
            case Status.noCredentials: .incorrectParameters
            case Status.userActionTimeout, Status.userPresenceRequired: .conditionsNotSatisfied
            default: .aborted
            }
        return word.bytes
    }
}

/// The sites that a guard has seen, by which the hashes in U2F messages are named.
struct U2FSites {
    /// The most that are known.
    private static let limit = 4096
    private var names: [[UInt8]: String] = [:]

    init(_ sites: [String] = []) { for site in sites { add(site) } }

    /// Adds a site. A U2F application is a URL of the site, or its name.
    mutating func add(_ site: String) {
        guard names.count < Self.limit else { return }
        for text in [site, "https://" + site] { names[HashAlgorithm.sha256.hash(Array(text.utf8))] = site }
    }

    /// The name of the site with a hash.
    subscript(_ application: [UInt8]) -> String? { names[application] }
}
