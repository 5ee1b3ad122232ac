// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// The selected application: its reply to SELECT, the access key that unlocked it, and whether it accepts extended
/// lengths.
final class OATHSession {
    let channel: CardChannel
    private(set) var info: OATHInfo
    private var key: AccessKey?
    private var mustReselect = false

    /// Selects the application.
    init(_ channel: sending CardChannel) throws(OATHError) {
        let reply = try lift(OATHError.card) { () throws(CardError) in try channel.select(.oath) }
        // The Secrets application of a Nitrokey 3 has the same identifier.
        guard !SecretsProtocol.isSelected(reply) else { throw .otherApplication }
        info = try lift({ OATHError.card(.malformed($0, during: "SELECT")) }) { () throws(WireError) in
            try OATHInfo(selectReply: reply, isYubiKey: channel.identity.isYubiKey)
        }
        self.channel = channel
        info.version.map(channel.adapt)
        if takesExtendedLength { channel.form = .extended }
        channel.onReselect = { [unowned self] reply throws(CardError) in try resume(reply) }
    }

    /// Sends a command and lifts its error.
    func send<Command: CardCommand>(_ command: Command) throws(OATHError) -> Command.Response {
        do {
            if mustReselect { try reselect() }
            return try channel.send(command)
        } catch {
            throw OATHError(error, info: info)
        }
    }

    /// Unlocks the application and keeps the key, to unlock it again after it is reselected.
    func unlock(with key: consuming AccessKey) throws(OATHError) {
        guard info.hasPassword else { return }
        do {
            if mustReselect || !info.isLocked { try refresh(try channel.select(.oath)) }
            try validate(key)
            self.key = consume key
        } catch {
            mustReselect = true  // A challenge is good for one answer.
            throw OATHError(error, info: info)
        }
    }

    /// Records the new password, or its removal.
    ///
    /// The next command selects and unlocks again: a YubiKey NEO, and CanoKey 3.0, are locked after SET CODE.
    func passwordDidChange(to key: consuming AccessKey?) {
        info.hasPassword = key != nil
        info.isLocked = false
        mustReselect = true
        self.key = key
    }

    /// Selects the application again after a reset of its memory.
    func startOver() throws(OATHError) {
        key = nil
        do { try reselect() } catch { throw OATHError(error, info: info) }
    }

    private func reselect() throws(CardError) { try resume(try channel.select(.oath)) }

    private func resume(_ reply: [UInt8]) throws(CardError) {
        let salt = info.salt
        try refresh(reply)
        guard info.isLocked, info.salt == salt else { return }
        try revalidate()
    }

    private func revalidate() throws(CardError) {
        guard let key = key?.copy() else { return }
        try validate(key)
    }

    private func refresh(_ reply: [UInt8]) throws(CardError) {
        info = try lift({ CardError.malformed($0, during: "SELECT") }) { () throws(WireError) in
            try OATHInfo(selectReply: reply, isYubiKey: info.isYubiKey)
        }
        mustReselect = false
    }

    private func validate(_ key: borrowing AccessKey) throws(CardError) {
        guard let challenge = info.challenge else { return }
        let ours = try lift(CardError.link) { () throws(LinkError) in
            try channel.environment.random.draw(8, secret: false)
        }
        let isReplay = channel.environment.isRedactedReplay
        try channel.send(Validate(key, theirs: challenge, ours: ours, acceptsOverwritten: isReplay))
        info.isLocked = false
        channel.resetsOnRelease = true  // Other programs must not inherit what was unlocked.
    }

    /// YubiKeys accept extended lengths from firmware 4.0 on, even if their ATR does not say so.
    private var takesExtendedLength: Bool {
        guard info.isYubiKey, let version = info.version, version >= FirmwareVersion(4, 0, 0) else { return false }
        return channel.identity.readerTakesExtendedLength
    }
}
