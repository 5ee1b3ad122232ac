// SPDX-License-Identifier: Apache-2.0

import Synchronization
public import YKCrypto
import YKWire

/// Carries stanzas between a plugin and age.
public protocol AgeConnection: Sendable {
    /// Waits for the next stanza of the other side.
    func receive() throws(AgeError) -> AgeStanza
    /// Sends a stanza.
    func send(_ stanza: AgeStanza) throws(AgeError)
}

/// The phases of the plugin protocol (C2SP age-plugin.md): first age sends commands, then the plugin asks and age
/// answers.
public final class AgeDialogue: Sendable {
    private let connection: any AgeConnection
    /// Serializes questions: touch requests come from a different thread than everything else.
    private let turn = Mutex(())

    /// Creates a dialogue over a connection.
    public init(_ connection: any AgeConnection) { self.connection = connection }

    /// The next command of age's phase; `nil` at its end.
    func command() throws(AgeError) -> AgeStanza? {
        let stanza = try connection.receive()
        return stanza.type == "done" ? nil : stanza
    }

    /// Sends a command and waits for its answer.
    @discardableResult
    func ask(_ stanza: AgeStanza) throws(AgeError) -> AgeStanza {
        try turn.withLock { _ throws(AgeError) in
            try connection.send(stanza)
            return try connection.receive()
        }
    }

    /// Ends the plugin's phase.
    func finish() throws(AgeError) {
        try turn.withLock { _ throws(AgeError) in try connection.send(AgeStanza("done")) }
    }

    /// Shows the user a message, and ignores whether it could be shown.
    public func say(_ text: String) { _ = try? ask(AgeStanza("msg", body: Array(text.utf8))) }

    /// Asks the user to choose.
    ///
    /// - Returns: Whether they chose `yes`; false also if no user can be asked.
    /// - Throws: ``AgeError/connection(_:)``.
    public func confirms(_ question: String, yes: String, no: String) throws(AgeError) -> Bool {
        let words = [yes, no].map { Base64.encode(Array($0.utf8), padded: false) }
        let answer = try ask(AgeStanza("confirm", words, body: Array(question.utf8)))
        return answer.type == "ok" && answer.arguments.first == "yes"
    }

    /// Asks the user for a PIN.
    ///
    /// - Returns: The input; `nil` if no user can be asked, or the input is empty.
    /// - Throws: ``AgeError/connection(_:)``.
    public func secret(_ question: String) throws(AgeError) -> SharedSecret? {
        var answer = try ask(AgeStanza("request-secret", body: Array(question.utf8)))
        defer { Secret.wipe(&answer.body) }
        return answer.type == "ok" && !answer.body.isEmpty ? SharedSecret(Secret(answer.body)) : nil
    }
}

/// A key on a card that is attached.
public struct AgeSlotKey: Hashable, Sendable {
    /// The PIV slot.
    public let slot: UInt8
    /// The serial number of the card, 0 for none.
    public let serial: UInt32
    /// The public key.
    public let key: AgePublicKey

    /// Creates a reference to a key.
    public init(slot: UInt8, serial: UInt32, key: AgePublicKey) {
        (self.slot, self.serial, self.key) = (slot, serial, key)
    }
}

/// Gives a plugin access to security keys, and prompts the user when they are used.
public protocol AgeKeySource {
    /// Called with all identities before the first of them is used.
    func expect(_ identities: [AgeIdentity])
    /// Returns the keys in one or all slots that age uses, on the attached card or on the one with this serial number;
    /// empty if the user continues without it.
    func slotKeys(serial: UInt32?, slot: UInt8?) async throws -> [AgeSlotKey]
    /// Returns the shared secret of a slot's key and a public key; `nil` if the user continues without the card.
    func agree(_ key: AgeSlotKey, with peer: PublicKey) async throws -> SharedSecret?
    /// Returns the secret of a credential, an X25519 private key; `nil` if the user continues without its key.
    func secret(of credential: AgeCredential) async throws -> SharedSecret?
    /// Whether an agent holds a key and unwraps file keys with it instead of this source.
    func isHeldByAgent(_ key: AgeAgentKey) async -> Bool
    /// Returns the file key that the agent unwraps; `nil` if it is wrapped for another key.
    func agentFileKey(_ wrapping: AgeWrapping, _ key: AgeAgentKey) async throws -> SharedSecret?
    /// Returns 32 random bytes for an ephemeral key.
    func ephemeral() throws -> SharedSecret
    /// Returns the message for an error thrown by this source.
    func words(_ error: any Error) -> String
}

extension AgeKeySource {
    /// Does nothing.
    public func expect(_ identities: [AgeIdentity]) {}
    /// No agent.
    public func isHeldByAgent(_ key: AgeAgentKey) async -> Bool { false }
    /// No agent.
    public func agentFileKey(_ wrapping: AgeWrapping, _ key: AgeAgentKey) async throws -> SharedSecret? { nil }
}
