// SPDX-License-Identifier: Apache-2.0

public import YKManagement
public import YKOATH
public import YKTransport
import YKWire

/// What a key reports about itself: its identity, its applications, and the state of OATH.
public struct KeyReport: Sendable {
    /// The identity of the key.
    public var identity: DeviceIdentity
    /// The reader, if the key was read as a card.
    public var reader: String?
    /// The node, if the key was read over HID.
    public var path: String?
    /// The state of OATH; `nil` for a key without OATH, or one that does not report its state.
    public private(set) var oath: OATHInfo?
    /// Why the state of OATH could not be read.
    public private(set) var oathProblem: OATHError?
    /// The applications found on a card that does not list them.
    public private(set) var found: Capability?
    /// The applications whose presence a replayed recording does not show.
    public private(set) var unrecorded: Capability = []
    /// Whether the card has the Secrets application of a Nitrokey 3.
    public private(set) var hasSecrets = false
    /// Whether the applications were found through a contactless reader.
    public private(set) var isContactless = false
    /// Whether a FIPS key of the 4 series is in FIPS mode, if it was queried.
    public var isInFIPSMode: Bool?

    /// Creates a report of a key that was read over HID.
    public init(_ identity: DeviceIdentity, path: String? = nil) { (self.identity, self.path) = (identity, path) }

    /// Reads a key as a card. If it does not list its applications, each is tried.
    ///
    /// - Throws: `LinkError` or `CardError` if the key cannot be read; a failure to read the state of OATH is stored in
    ///   ``oathProblem``.
    public static func read(_ channel: sending CardChannel) async throws -> KeyReport {
        let card = channel.identity
        var report = KeyReport(try DeviceIdentity.read(channel))
        report.reader = card.reader
        if report.identity.info == nil {
            report.isContactless = (try? ATR(decoding: card.atr))?.contactless != nil
            let (found, unrecorded) = try CardApplications.found(on: channel)
            report.found = found
            report.unrecorded = unrecorded
        }
        do throws(OATHError) { report.oath = await (try OATHService.open(channel)).info } catch {
            switch error {
            case .card(.appletMissing): break
            case .otherApplication:
                report.hasSecrets = true
                report.found?.remove(.oath)
            case .card(.link(.replay)): report.unrecorded.formUnion(.oath)
            case .card(.link), .card(.secureChannel): throw error
            default: report.oathProblem = error
            }
        }
        return report
    }
}
