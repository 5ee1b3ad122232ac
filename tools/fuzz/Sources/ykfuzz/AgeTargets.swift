// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization
import YKAge
import YKCrypto

extension FuzzTarget {
    static let age: [FuzzTarget] = [
        FuzzTarget(name: "age-key") { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            if let recipient = try? AgeRecipient(parsing: text) {
                for isOwn in [false, true] {
                    let again = try? AgeRecipient(parsing: recipient.text(isOwn: isOwn))
                    require(again == recipient, "a recipient is read as it was written")
                }
            }
            if let identity = try? AgeIdentity(parsing: text) {
                require((try? AgeIdentity(parsing: identity.text)) == identity, "an identity is read as it was written")
            }
            if let request = try? AgeUnwrapRequest(bytes) {
                require(request.bytes == bytes, "a request is written as it was read")
            }
            _ = AgeUnwrapAnswer(bytes)
        },
        FuzzTarget(name: "age-stanza") { bytes in
            for stanza in stanzas(bytes) {
                require(stanzas(stanza.encoded) == [stanza], "a stanza is read as it was written")
                guard let wrapping = try? AgeWrapping(stanza) else { continue }
                require(wrapping.stanza == stanza, "a wrapping is written as it was read")
                _ = try? wrapping.fileKey(
                    Secret([UInt8](repeating: 1, count: 32)), of: .x25519([UInt8](repeating: 2, count: 32)))
            }
        },
        FuzzTarget(name: "age-plugin") { bytes in
            guard let plugin = bytes.first.map({ $0 & 1 == 0 ? AgePlugin.identity : .recipient }) else { return }
            let done = DispatchSemaphore(value: 0)
            Task {
                _ = try? await plugin.run(AgeDialogue(Script(stanzas(Array(bytes.dropFirst())))), FixedKeys())
                done.signal()
            }
            done.wait()
        },
    ]
}

/// The stanzas of a text, up to where it is malformed.
private func stanzas(_ bytes: [UInt8]) -> [AgeStanza] {
    var reader = AgeStanzaReader()
    var found: [AgeStanza] = []
    for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
        do { if let stanza = try reader.take(Array(line)) { found.append(stanza) } } catch { break }
    }
    return found
}

/// Says what it was given, and then nothing.
private final class Script: AgeConnection {
    private let rest: Mutex<ArraySlice<AgeStanza>>

    init(_ stanzas: [AgeStanza]) { rest = Mutex(stanzas[...]) }

    func receive() throws(AgeError) -> AgeStanza {
        guard let next = rest.withLock({ $0.popFirst() }) else { throw .connection("the end") }
        return next
    }

    func send(_ stanza: AgeStanza) throws(AgeError) {}
}

private struct FixedKeys: AgeKeySource {
    func slotKeys(serial: UInt32?, slot: UInt8?) async throws -> [AgeSlotKey] {
        [AgeSlotKey(slot: 0x82, serial: 1, key: .x25519([UInt8](repeating: 9, count: 32)))]
    }

    func agree(_ key: AgeSlotKey, with peer: PublicKey) async throws -> SharedSecret? { try ephemeral() }
    func secret(of credential: AgeCredential) async throws -> SharedSecret? { try ephemeral() }
    func ephemeral() throws -> SharedSecret { SharedSecret(Secret([UInt8](repeating: 7, count: 32))) }
    func words(_ error: any Error) -> String { "\(error)" }
}
