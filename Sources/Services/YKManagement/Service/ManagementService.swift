// SPDX-License-Identifier: Apache-2.0

public import YKTransport

/// The management of a YubiKey: what the key is, what it can do, and what of it is switched on.
///
/// Every method runs a whole exchange with the key on a thread of its own; two callers never mix on the key.
public actor ManagementService: KeyService {
    /// What runs the service.
    public nonisolated let runtime: ServiceRuntime
    private let session: ManagementSession

    private init(_ session: sending ManagementSession, _ runtime: ServiceRuntime) {
        self.session = session
        self.runtime = runtime
    }

    /// Selects the management application of a card.
    ///
    /// Throws `card(.appletMissing)` when the key has none: keys of other makers.
    public static func open(_ channel: sending CardChannel) async throws(ManagementError) -> ManagementService {
        try await start(channel) { channel, runtime throws(ManagementError) in
            channel.runtime = runtime
            return try ManagementSession(channel)
        }
    }

    /// Uses the management behind the FIDO interface of a key; nothing is sent.
    ///
    /// `product` is the USB product, from which a key too old to say more is known.
    public static func open(
        fido link: sending any FIDOLink, product: USBProduct? = nil
    ) async throws(ManagementError) -> ManagementService {
        try await start(link) { link, runtime throws(ManagementError) in
            ManagementSession(FIDOCarrier(link, runtime), product: product)
        }
    }

    /// Uses the management behind the OTP interface of a key, after asking for its status.
    public static func open(
        otp link: sending any OTPLink, product: USBProduct? = nil
    ) async throws(ManagementError) -> ManagementService {
        try await start(link) { link, runtime throws(ManagementError) in
            ManagementSession(try KeyboardCarrier(link, runtime), product: product)
        }
    }

    private static func start<Link>(
        _ link: sending Link,
        _ session: @Sendable (sending Link, ServiceRuntime) throws(ManagementError) -> sending ManagementSession
    ) async throws(ManagementError) -> ManagementService {
        let opened = try await ServiceRuntime.open(link, { ManagementError.card(.link($0)) }, session)
        return ManagementService(opened.session, opened.runtime)
    }

    /// The firmware version that the application gave when it was opened; over FIDO HID 3.0.0 for any key from before
    /// the 4 series.
    public var version: Version { session.version }

    /// How many exchanges were made with the key.
    public var statistics: ServiceStatistics { ServiceStatistics(exchanges: session.carrier.exchanges) }

    /// Lets other programs use the card until the next operation.
    public func rest() { session.carrier.rest() }

    /// Ends the use of the key.
    public func close() { session.carrier.close() }

    /// Reads every page of device information (READ CONFIG, from firmware 4.1 on); for an older key, finds out what
    /// can be found out by selecting its applications, or by its USB product number.
    public func deviceInfo() throws(ManagementError) -> DeviceInfo { try session.deviceInfo() }

    /// Changes what is switched on, time-outs and flags (WRITE CONFIG, from firmware 5.0 on), reads it back and compares.
    /// When USB interfaces come or go the key starts anew.
    ///
    /// Throws, and changes nothing, `lastApplication` when all of USB would be switched off, `notThere` for
    /// applications the key has not, `resetBlocked`, `noNFC`, `tooOld`, `locked` and `notLocked` when a lock code is
    /// missing or one too many, and `wrongLockCode`.
    public func write(
        _ configuration: DeviceConfiguration, lockCode: consuming LockCode? = nil
    ) throws(ManagementError) -> ConfigurationOutcome {
        try session.write(configuration, unlock: lockCode)
    }

    /// Sets or changes the code of 16 bytes without which nothing can be switched on or off; sixteen zero bytes remove
    /// it. A lost code cannot be reset.
    ///
    /// Throws `locked`, `notLocked`, `wrongLockCode`, or `notWritten` when the key does not say afterwards that it is so.
    public func setLockCode(
        _ new: consuming LockCode, current: consuming LockCode? = nil
    ) throws(ManagementError) -> DeviceInfo {
        try session.setLockCode(new, unlock: current)
    }

    /// Sets which USB interfaces the key shows when it is plugged in again: SET MODE for keys from before firmware 5,
    /// the applications behind the interfaces for later ones.
    ///
    /// Throws `noSuchMode` for interfaces the key has not, and `touchEjectNeedsCCID`.
    public func setMode(_ mode: USBMode, timeouts: ModeTimeouts = ModeTimeouts()) throws(ManagementError) {
        try session.setMode(mode, timeouts: timeouts)
    }

    /// Resets all applications and the PIN that they share, on keys with a fingerprint sensor and more than FIDO (RESET
    /// DEVICE). It cannot be undone.
    ///
    /// Throws `noWholeReset` for other keys, and `notOverThisLink` for anything but a smart card.
    public func resetDevice() throws(ManagementError) { try session.reset() }
}
