// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKTransport
import YKWire

/// The application as it is selected: which it is, and what was shown to it.
final class PIVSession {
    let channel: CardChannel
    private(set) var identity: PIVIdentity
    /// Whether the PIN was given, and whether a key was used since: then the policy "always" wants it again.
    var pinState = PINState.notGiven
    /// Whether the management key was given.
    var isManaging = false
    /// The management key, when the PIN led to it.
    var protectedKey: SharedSecret?
    /// The type of the management key, once it is known.
    var managementKeyType: ManagementKeyType?

    enum PINState { case notGiven, fresh, used }

    /// Selects the application and asks for its version.
    init(_ channel: sending CardChannel) throws(PIVError) {
        do {
            _ = try channel.select(.piv)
        } catch { throw .card(error) }
        self.channel = channel
        let isYubiKey = channel.identity.isYubiKey
        identity = PIVIdentity(version: nil, isYubiKey: isYubiKey)
        let version = try Self.version(channel)
        identity = PIVIdentity(version: version, isYubiKey: isYubiKey)
        version.map(channel.adapt)
        if isYubiKey, channel.identity.readerTakesExtendedLength, version.map({ $0 >= Version(4, 0, 0) }) ?? false {
            channel.form = .extended
        }
        channel.onReselect = { [unowned self] _ in forget() }
    }

    /// Cards of other makers need not know the command, and recordings need not have it.
    private static func version(_ channel: CardChannel) throws(PIVError) -> Version? {
        do { return try channel.send(GetVersion()) } catch {
            switch error {
            case .status, .link(.replay): return nil
            default: throw .card(error)
            }
        }
    }

    /// Takes over that nothing is unlocked any more.
    func forget() {
        pinState = .notGiven
        isManaging = false
        protectedKey = nil
    }

    /// Sends a command; `meaning` says what a status word means after it.
    func send<Command: CardCommand>(
        _ command: Command, _ meaning: (StatusWord) -> PIVError? = { _ in nil }
    ) throws(PIVError) -> Command.Response {
        do { return try channel.send(command) } catch { throw PIVError(error, meaning) }
    }

    /// Sends a command that needs the management key.
    func manage<Command: CardCommand>(
        _ command: Command, _ meaning: (StatusWord) -> PIVError? = { _ in nil }
    ) throws(PIVError) -> Command.Response {
        try send(command) { status in
            status == .securityStatusNotSatisfied
                ? (isManaging ? .touchTimeout : .managementKeyRequired) : meaning(status)
        }
    }

    /// Throws `unsupported` when the firmware is known to lack a feature.
    func require(_ feature: PIVFeature) throws(PIVError) {
        if identity.supports(feature) == false { throw .unsupported(feature, identity) }
    }

    func draw(_ count: Int, secret: Bool) throws(PIVError) -> [UInt8] {
        do { return try channel.environment.random.draw(count, secret: secret) } catch { throw .card(.link(error)) }
    }
}
