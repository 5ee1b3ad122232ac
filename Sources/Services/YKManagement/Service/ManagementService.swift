// SPDX-License-Identifier: Apache-2.0

public import YKTransport

/// The management of a YubiKey: its device information, capabilities and enabled applications.
///
/// Every method runs a whole exchange with the key on the service's own thread; concurrent calls never interleave.
public actor ManagementService: KeyService {
    /// The runtime of the service.
    public nonisolated let runtime: ServiceRuntime
    private let session: ManagementSession

    private init(_ session: sending ManagementSession, _ runtime: ServiceRuntime) {
        self.session = session
        self.runtime = runtime
    }

    /// Selects the management application of a card.
    ///
    /// - Throws: `card(.appletMissing)` if the key has none, like keys of other vendors.
    public static func open(_ channel: sending CardChannel) async throws(ManagementError) -> ManagementService {
        try await start(channel) { channel, runtime throws(ManagementError) in
            channel.runtime = runtime
            return try ManagementSession(channel)
        }
    }

    /// Uses management over the FIDO interface of a key; sends nothing.
    ///
    /// `product` is the USB product, which identifies keys too old to report more.
    public static func open(
        fido link: sending any FIDOLink, product: USBProduct? = nil
    ) async throws(ManagementError) -> ManagementService {
        try await start(link) { link, runtime throws(ManagementError) in
            ManagementSession(FIDOCarrier(link, runtime), product: product)
        }
    }

    /// Uses management over the OTP interface of a key, after reading its status.
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

    /// The firmware version that the application reported when it was opened; over FIDO HID 3.0.0 for any key before
    /// the 4 series.
    public var version: FirmwareVersion { session.version }

    /// The number of exchanges with the key.
    public var statistics: ServiceStatistics { ServiceStatistics(exchanges: session.carrier.exchanges) }

    /// Lets other programs use the card until the next operation.
    public func rest() { session.carrier.rest() }

    /// Closes the connection to the key.
    public func close() { session.carrier.close() }

    /// Reads every page of device information (READ CONFIG, from firmware 4.1 on); an older key is probed by selecting
    /// its applications, or identified by its USB product number.
    public func deviceInfo() throws(ManagementError) -> DeviceInfo { try session.deviceInfo() }

    /// Changes enabled applications, timeouts and flags (WRITE CONFIG, from firmware 5.0 on), reads them back and
    /// compares. If USB interfaces are added or removed, the key restarts.
    ///
    /// - Throws: Before any change, `lastApplication` if all of USB would be disabled, `notThere` for unsupported
    ///   applications, `resetBlocked`, `noNFC`, `tooOld`, `locked` and `notLocked` if a lock code is missing or not
    ///   needed, and `wrongLockCode`.
    public func write(
        _ configuration: DeviceConfiguration, lockCode: consuming LockCode? = nil
    ) throws(ManagementError) -> ConfigurationOutcome {
        try session.write(configuration, unlock: lockCode)
    }

    /// Sets or changes the 16-byte lock code that protects the configuration; sixteen zero bytes remove it. A lost code
    /// cannot be reset.
    ///
    /// - Throws: `locked`, `notLocked`, `wrongLockCode`, or `notWritten` if the key does not report the change
    ///   afterwards.
    public func setLockCode(
        _ new: consuming LockCode, current: consuming LockCode? = nil
    ) throws(ManagementError) -> DeviceInfo {
        try session.setLockCode(new, unlock: current)
    }

    /// Sets the USB interfaces that the key enables when it is next plugged in: SET MODE for keys before firmware 5,
    /// the applications of the interfaces for later ones.
    ///
    /// - Throws: `noSuchMode` for unsupported interfaces, and `touchEjectNeedsCCID`.
    public func setMode(_ mode: USBMode, timeouts: ModeTimeouts = ModeTimeouts()) throws(ManagementError) {
        try session.setMode(mode, timeouts: timeouts)
    }

    /// Resets all applications and their shared PIN, on keys with a fingerprint sensor and more than FIDO (RESET
    /// DEVICE). It cannot be undone.
    ///
    /// - Throws: `noWholeReset` for other keys, and `notOverThisLink` for anything but a smart card.
    public func resetDevice() throws(ManagementError) { try session.reset() }
}
