// SPDX-License-Identifier: Apache-2.0

/// An open HID device: 64-byte reports out, 64-byte reports in, under a deadline.
///
/// A link knows nothing of channels, messages or commands. Every program that has the device open sees the reports for
/// all of them. It is synchronous, used by one thread at a time, and transferred once to its user.
public protocol ReportLink: AnyObject {
    /// The identity of the device.
    var identity: ReportIdentity { get }

    /// Sends one report, without a report number.
    func write(_ report: [UInt8], deadline: Deadline) throws(LinkError)

    /// Returns the next report, without a report number.
    ///
    /// - Throws: `timedOut` or `cancelled` when the deadline ends first, `removed` when the device was unplugged.
    func read(deadline: Deadline) throws(LinkError) -> [UInt8]

    /// Sets the feature report, without a report number.
    func setFeature(_ report: [UInt8], deadline: Deadline) throws(LinkError)

    /// Reads the feature report, without a report number.
    func feature(deadline: Deadline) throws(LinkError) -> [UInt8]

    /// Lets other programs use the device until the next report, if the link locks them out.
    func rest()

    /// Closes the device.
    func close()
}

extension ReportLink {
    /// Does nothing: most links lock no one out.
    public func rest() {}

    /// Always throws: FIDO devices have no feature reports.
    public func setFeature(_ report: [UInt8], deadline: Deadline) throws(LinkError) {
        _ = try feature(deadline: deadline)
    }

    /// Always throws: FIDO devices have no feature reports.
    public func feature(deadline: Deadline) throws(LinkError) -> [UInt8] {
        throw .failed(code: 0, "\(identity.path) has no feature reports")
    }
}

/// The identity of a HID device.
public struct ReportIdentity: Sendable, Hashable {
    /// The device path such as `/dev/hidraw0`, or the name of its replacement.
    public var path: String
    /// The name reported by the device.
    public var name: String
    /// The USB vendor number.
    public var vendor: UInt16
    /// The USB product number.
    public var product: UInt16

    /// Creates an identity.
    public init(path: String, name: String = "", vendor: UInt16 = 0, product: UInt16 = 0) {
        self.path = path
        self.name = name
        self.vendor = vendor
        self.product = product
    }
}
