// SPDX-License-Identifier: Apache-2.0

import YKCrypto

/// The state machines of a plugin (C2SP age-plugin.md).
public enum AgePlugin: String, CaseIterable, Sendable {
    /// Wraps file keys.
    case recipient = "recipient-v1"
    /// Unwraps file keys.
    case identity = "identity-v1"

    /// Maximum number of identities, recipients, file keys and stanzas in one run.
    public static let limit = 4096

    /// Runs to the end of both phases.
    ///
    /// - Returns: The number of file keys wrapped or unwrapped.
    /// - Throws: ``AgeError/connection(_:)``, or `malformed` when age does not follow the protocol.
    public func run(_ dialogue: AgeDialogue, _ keys: any AgeKeySource) async throws(AgeError) -> Int {
        switch self {
        case .recipient:
            let request = try WrapRequest(dialogue)
            let count = try await request.answer(dialogue, keys)
            try dialogue.finish()
            return count
        case .identity:
            let request = try UnwrapRequest(dialogue)
            var unwrapping = Unwrapping(dialogue: dialogue, keys: keys)
            let count = try await unwrapping.run(request)
            try dialogue.finish()
            return count
        }
    }
}

extension AgeDialogue {
    /// Reports an error of an identity, a recipient or a stanza.
    fileprivate func fail(_ what: [String], _ words: String) throws(AgeError) {
        try ask(AgeStanza("error", what, body: Array(words.utf8)))
    }
}

/// A request to wrap file keys.
private struct WrapRequest {
    private var recipients: [String] = []
    private var identities: [String] = []
    private var fileKeys: [SharedSecret] = []

    init(_ dialogue: AgeDialogue) throws(AgeError) {
        while var command = try dialogue.command() {
            switch (command.type, command.arguments.count) {
            case ("add-recipient", 1): recipients.append(command.arguments[0])
            case ("add-identity", 1): identities.append(command.arguments[0])
            case ("wrap-file-key", _):
                fileKeys.append(SharedSecret(Secret(command.body)))
                Secret.wipe(&command.body)
            default: break
            }
            guard recipients.count + identities.count + fileKeys.count <= AgePlugin.limit else {
                throw .malformed("more than \(AgePlugin.limit) commands")
            }
        }
    }

    /// Wraps every file key for every recipient, or reports errors and wraps nothing.
    func answer(_ dialogue: AgeDialogue, _ keys: any AgeKeySource) async throws(AgeError) -> Int {
        var all: [AgeRecipient] = []
        var isComplete = true
        for (index, text) in recipients.enumerated() {
            do { all.append(try AgeRecipient(parsing: text)) } catch {
                try dialogue.fail(["recipient", "\(index)"], error.description)
                isComplete = false
            }
        }
        for (index, text) in identities.enumerated() {
            do { all.append(try await Self.recipient(of: try AgeIdentity(parsing: text), keys)) } catch {
                try dialogue.fail(["identity", "\(index)"], keys.words(error))
                isComplete = false
            }
        }
        guard isComplete else { return 0 }
        var stanzas: [(file: Int, stanza: AgeStanza)] = []
        do {
            for (index, key) in fileKeys.enumerated() {
                guard key.value.count == AgeWrapping.fileKeySize else {
                    throw AgeError.malformed("a file key of \(key.value.count) bytes")
                }
                for recipient in all {
                    let ephemeral = try keys.ephemeral()
                    stanzas.append(
                        (index, try AgeWrapping(key.value, for: recipient, ephemeral: ephemeral.value).stanza))
                }
            }
        } catch {
            try dialogue.fail(["internal"], keys.words(error))
            return 0
        }
        for (file, stanza) in stanzas {
            let words = ["\(file)", stanza.type] + stanza.arguments
            try dialogue.ask(AgeStanza("recipient-stanza", words, body: stanza.body))
        }
        return fileKeys.count
    }

    private static func recipient(of identity: AgeIdentity, _ keys: any AgeKeySource) async throws -> AgeRecipient {
        switch identity {
        case .slot(_, _, .p256(let point)): return .p256tag(point)
        case .slot(_, _, .x25519(let bytes)), .fido2(_, let bytes?): return .x25519(bytes)
        case .yubikey(let slot, let serial, let tag):
            let found = try await keys.slotKeys(serial: serial, slot: slot)
            guard let key = found.first(where: { $0.key.tag == tag }) else {
                throw AgeError.refused("the key with this identity is not plugged in")
            }
            return .pivP256(key.key.bytes)
        case .fido2(let credential, nil):
            guard let secret = try await keys.secret(of: credential) else {
                throw AgeError.refused("the key with this identity is not plugged in")
            }
            let key = try AgePublicKey.lifting { () throws(CryptoFault) in try PrivateKey(x25519: secret.value) }
            guard case .x25519(let bytes) = key.publicKey else { throw AgeError.refused("a key of another kind") }
            return .x25519(bytes)
        case .any: throw AgeError.refused("this identity names no key: encrypt to a recipient")
        }
    }
}

/// A request to unwrap file keys.
private struct UnwrapRequest {
    var identities: [String] = []
    /// The stanzas of each file, by its number.
    var files: [(number: Int, stanzas: [AgeStanza])] = []

    init(_ dialogue: AgeDialogue) throws(AgeError) {
        var count = 0
        while let command = try dialogue.command() {
            switch (command.type, command.arguments.count) {
            case ("add-identity", 1): identities.append(command.arguments[0])
            case ("recipient-stanza", 2...):
                guard let number = Int(command.arguments[0]), number >= files.last?.number ?? 0 else {
                    throw .malformed("the file numbers do not increase")
                }
                if files.last?.number != number { files.append((number, [])) }
                let words = Array(command.arguments[2...])
                files[files.count - 1].stanzas.append(AgeStanza(command.arguments[1], words, body: command.body))
            default: break
            }
            count += 1
            guard count <= AgePlugin.limit else { throw .malformed("more than \(AgePlugin.limit) commands") }
        }
    }
}

/// Unwraps file keys, with as few uses of each key as possible.
private struct Unwrapping {
    let dialogue: AgeDialogue
    let keys: any AgeKeySource
    private var identities: [(number: Int, identity: AgeIdentity)] = []
    /// The private keys derived from credentials in this run.
    private var made: [AgeCredential: PrivateKey] = [:]
    /// The credentials whose key the user does not have.
    private var skipped: Set<AgeCredential> = []
    /// The keys on the attached card, once they have been read.
    private var slots: [AgeSlotKey]?

    init(dialogue: AgeDialogue, keys: any AgeKeySource) { (self.dialogue, self.keys) = (dialogue, keys) }

    mutating func run(_ request: UnwrapRequest) async throws(AgeError) -> Int {
        for (number, text) in request.identities.enumerated() {
            do { identities.append((number, try AgeIdentity(parsing: text))) } catch {
                try dialogue.fail(["identity", "\(number)"], error.description)
            }
        }
        keys.expect(identities.map(\.identity))
        var count = 0
        for file in request.files {
            guard let wrappings = try wrappings(file.number, file.stanzas) else { continue }
            guard let key = try await fileKey(wrappings) else {
                if file.stanzas.contains(where: { $0.type.hasPrefix("mlkem768") }) {
                    dialogue.say("the file is encrypted to a post-quantum recipient, which ykit does not support")
                }
                continue
            }
            var stanza = AgeStanza("file-key", ["\(file.number)"], body: key.value.copyBytes())
            defer { Secret.wipe(&stanza.body) }
            try dialogue.ask(stanza)
            count += 1
        }
        return count
    }

    /// The stanzas of known types; `nil` if one of them is malformed.
    private func wrappings(_ file: Int, _ stanzas: [AgeStanza]) throws(AgeError) -> [AgeWrapping]? {
        var found: [AgeWrapping] = []
        var isComplete = true
        for (index, stanza) in stanzas.enumerated() {
            do {
                if let wrapping = try AgeWrapping(stanza) { found.append(wrapping) }
            } catch {
                try dialogue.fail(["stanza", "\(file)", "\(index)"], error.description)
                isComplete = false
            }
        }
        return isComplete ? found : nil
    }

    private mutating func fileKey(_ wrappings: [AgeWrapping]) async throws(AgeError) -> SharedSecret? {
        for (number, identity) in identities {
            do {
                if let key = try await fileKey(wrappings, identity) { return key }
            } catch let error as AgeError where error.isOfConnection {
                throw error
            } catch {
                try dialogue.fail(["identity", "\(number)"], keys.words(error))
                return nil
            }
        }
        return nil
    }

    private mutating func fileKey(_ wrappings: [AgeWrapping], _ identity: AgeIdentity) async throws -> SharedSecret? {
        switch identity {
        case .slot(let slot, let serial, let key):
            return try await fileKey(wrappings, AgeSlotKey(slot: slot, serial: serial, key: key))
        case .yubikey(let slot, let serial, let tag):
            guard wrappings.contains(where: { $0.isTagged(for: tag) }) else { return nil }
            if await keys.isHeldByAgent(.tag(tag)) { return try await agentFileKey(wrappings, .tag(tag)) }
            let found = try await keys.slotKeys(serial: serial, slot: slot)
            guard let key = found.first(where: { $0.key.tag == tag }) else { return nil }
            return try await fileKey(wrappings, key)
        case .fido2(let credential, _): return try await fileKey(wrappings, credential)
        case .any: return try await fileKeyOfAny(wrappings)
        }
    }

    /// Unwraps with a key in a slot: through an agent that holds it, otherwise on the card.
    private func fileKey(_ wrappings: [AgeWrapping], _ key: AgeSlotKey) async throws -> SharedSecret? {
        let wanted = AgeAgentKey.key(key.key)
        let fitting = wrappings.filter(wanted.fits)
        guard !fitting.isEmpty else { return nil }
        if await keys.isHeldByAgent(wanted) { return try await agentFileKey(fitting, wanted) }
        for wrapping in fitting {
            guard let secret = try await keys.agree(key, with: try wrapping.peer()) else { return nil }
            if let fileKey = try wrapping.fileKey(secret.value, of: key.key) { return fileKey }
        }
        return nil
    }

    private func agentFileKey(_ wrappings: [AgeWrapping], _ key: AgeAgentKey) async throws -> SharedSecret? {
        for wrapping in wrappings where key.fits(wrapping) {
            if let fileKey = try await keys.agentFileKey(wrapping, key) { return fileKey }
        }
        return nil
    }

    /// Unwraps with a credential: the stanzas that reference it, and X25519 stanzas.
    private mutating func fileKey(_ wrappings: [AgeWrapping], _ credential: AgeCredential) async throws -> SharedSecret?
    {
        let fitting = wrappings.filter { wrapping in
            switch wrapping {
            case .fido2(let named, _, _): named == credential
            case .x25519: true
            case .pivP256, .p256tag: false
            }
        }
        guard !fitting.isEmpty, let own = try await privateKey(credential), let key = AgePublicKey(own.publicKey)
        else { return nil }
        for wrapping in fitting {
            let peer = try wrapping.peer()
            guard let secret = try? own.shared(with: peer) else { continue }
            if let fileKey = try wrapping.fileKey(secret.value, of: key) { return fileKey }
        }
        return nil
    }

    /// Unwraps with any attached key: first the stanzas that identify their key, then the others by trial.
    private mutating func fileKeyOfAny(_ wrappings: [AgeWrapping]) async throws -> SharedSecret? {
        for case .fido2(let credential, _, _) in wrappings {
            if let fileKey = try await fileKey(wrappings, credential) { return fileKey }
        }
        let others = wrappings.filter { if case .fido2 = $0 { false } else { true } }
        guard !others.isEmpty else { return nil }
        let found = try await pluggedIn()
        for key in found.filter({ $0.key.isTagged }) + found.filter({ !$0.key.isTagged }) {
            if let fileKey = try await fileKey(others, key) { return fileKey }
        }
        return nil
    }

    private mutating func pluggedIn() async throws -> [AgeSlotKey] {
        if let slots { return slots }
        let found = try await keys.slotKeys(serial: nil, slot: nil)
        slots = found
        return found
    }

    private mutating func privateKey(_ credential: AgeCredential) async throws -> PrivateKey? {
        if let key = made[credential] { return key }
        guard !skipped.contains(credential) else { return nil }
        guard let secret = try await keys.secret(of: credential) else {
            skipped.insert(credential)
            return nil
        }
        let key = try AgePublicKey.lifting { () throws(CryptoFault) in try PrivateKey(x25519: secret.value) }
        made[credential] = key
        return key
    }
}

extension AgeError {
    fileprivate var isOfConnection: Bool { if case .connection = self { true } else { false } }
}

extension AgePublicKey {
    /// Whether stanzas for this key identify their recipient.
    fileprivate var isTagged: Bool { if case .p256 = self { true } else { false } }
}
