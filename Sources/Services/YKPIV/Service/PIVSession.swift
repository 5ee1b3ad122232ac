// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKTransport
import YKWire

/// The selected application: its identity, and what was verified.
final class PIVSession {
    let channel: CardChannel
    private(set) var identity: PIVIdentity
    /// Whether the PIN was verified, and whether a key has been used since: the policy "always" then requires the PIN
    /// again.
    var pinState = PINState.notGiven
    /// Whether the replayed recording lacks the version.
    private(set) var isVersionUnrecorded = false
    /// Whether the management key was authenticated.
    var isManaging = false
    /// The management key, if it was protected by the PIN.
    var protectedKey: SharedSecret?
    /// Whether the card must also prove that it knows the management key.
    var needsProof = true
    /// The type of the management key, once known.
    var managementKeyType: ManagementKeyType?

    enum PINState { case notGiven, fresh, used }

    /// Selects the application and reads its version.
    init(_ channel: sending CardChannel) throws(PIVError) {
        do {
            _ = try channel.select(.piv)
        } catch { throw .card(error) }
        self.channel = channel
        let reader = channel.identity.isYubiKey
        identity = PIVIdentity(version: nil, isYubiKey: reader)
        let answer = try Self.version(channel)
        let version = answer.value?.version
        if case .unrecorded = answer { isVersionUnrecorded = true }
        let isYubiKey = reader && answer.value?.isWhole != false
        identity = PIVIdentity(version: version, isYubiKey: isYubiKey)
        version.map(channel.adapt)
        if isYubiKey, channel.identity.readerTakesExtendedLength,
            version.map({ $0 >= FirmwareVersion(4, 0, 0) }) ?? false
        {
            channel.form = .extended
        }
        channel.onReselect = { [unowned self] _ in forget() }
    }

    /// Cards of other vendors may not support the command, and recordings may lack it.
    private static func version(
        _ channel: CardChannel
    ) throws(PIVError) -> CardAnswer<GetVersion.Response> {
        do { return try channel.ask(GetVersion()) } catch { throw .card(error) }
    }

    /// Discards the verified state.
    func forget() {
        pinState = .notGiven
        isManaging = false
        protectedKey = nil
    }

    /// Sends a command; `meaning` gives the meaning of its status words.
    func send<Command: CardCommand>(
        _ command: Command, _ meaning: (StatusWord) -> PIVError? = { _ in nil }
    ) throws(PIVError) -> Command.Response {
        do { return try channel.send(command) } catch { throw PIVError(error, meaning) }
    }

    /// Sends an optional query; see `CardChannel.ask`.
    func ask<Command: CardCommand>(_ command: Command) throws(PIVError) -> CardAnswer<Command.Response> {
        do { return try channel.ask(command) } catch { throw .card(error) }
    }

    /// Sends a command that requires the management key.
    func manage<Command: CardCommand>(
        _ command: Command, _ meaning: (StatusWord) -> PIVError? = { _ in nil }
    ) throws(PIVError) -> Command.Response {
        try send(command) { status in
            status == .securityStatusNotSatisfied
                ? (isManaging ? .touchTimeout : .managementKeyRequired) : meaning(status)
        }
    }

    /// Throws `unsupported` if the firmware is known to lack a feature.
    func require(_ feature: PIVFeature) throws(PIVError) {
        if identity.supports(feature) == false { throw .unsupported(feature, identity) }
    }

    func draw(_ count: Int, secret: Bool) throws(PIVError) -> [UInt8] {
        do { return try channel.environment.random.draw(count, secret: secret) } catch { throw .card(.link(error)) }
    }
}
