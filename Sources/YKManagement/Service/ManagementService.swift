// SPDX-License-Identifier: Apache-2.0

public import YKTransport

/// The management application of a YubiKey: what the key is, and what it can do.
///
/// Every method runs a whole exchange with the key on a thread of its own; two callers never mix on the card.
public actor ManagementService {
    private let thread: ServiceThread
    private let session: ManagementSession

    /// The thread the key is talked to on.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    private init(_ session: sending ManagementSession, on thread: ServiceThread) {
        self.session = session
        self.thread = thread
    }

    /// Selects the application.
    ///
    /// Throws `card(.appletMissing)` when the key has none: keys of other makers, and keys over NFC before the 4 series.
    public static func open(_ channel: sending CardChannel) async throws(ManagementError) -> ManagementService {
        let thread: ServiceThread
        do { thread = try ServiceThread() } catch { throw .card(.link(error)) }
        return ManagementService(try ManagementSession(channel), on: thread)
    }

    /// The firmware version that the application gave when it was selected.
    public var version: Version { session.version }

    /// How many exchanges were made with the card.
    public var exchanges: Int { session.channel.exchanges }

    /// Lets other programs use the card until the next operation.
    public func rest() { session.channel.rest() }

    /// Reads every page of device information (READ CONFIG, from firmware 4.1 on); for an older key, finds out what
    /// can be found out by selecting its applications.
    public func deviceInfo() throws(ManagementError) -> DeviceInfo { try session.deviceInfo() }
}
