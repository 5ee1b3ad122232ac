// SPDX-License-Identifier: Apache-2.0

/// A HID device that is open: reports of 64 bytes out, reports of 64 bytes in, under a deadline.
///
/// A link knows nothing of channels, messages or commands. Every program that has the device open sees the reports
/// meant for all of them. It is synchronous, used by one thread at a time, and handed over once to who uses it.
public protocol ReportLink: AnyObject {
    /// What is known of the device.
    var identity: ReportIdentity { get }

    /// Sends one report, without a report number.
    func write(_ report: [UInt8], deadline: Deadline) throws(LinkError)

    /// Gives the next report, without a report number. Throws `timedOut` or `cancelled` when the deadline ends first,
    /// `removed` when the device was unplugged.
    func read(deadline: Deadline) throws(LinkError) -> [UInt8]

    /// Sets the feature report, without a report number.
    func setFeature(_ report: [UInt8], deadline: Deadline) throws(LinkError)

    /// Gets the feature report, without a report number.
    func feature(deadline: Deadline) throws(LinkError) -> [UInt8]

    /// Ends the use of the device.
    func close()
}

extension ReportLink {
    /// Throws: FIDO devices have no feature reports.
    public func setFeature(_ report: [UInt8], deadline: Deadline) throws(LinkError) {
        _ = try feature(deadline: deadline)
    }

    /// Throws: FIDO devices have no feature reports.
    public func feature(deadline: Deadline) throws(LinkError) -> [UInt8] {
        throw .failed(code: 0, "\(identity.path) has no feature reports")
    }
}

/// What is known of a HID device.
public struct ReportIdentity: Sendable, Hashable {
    /// Where the device is: a path such as `/dev/hidraw0`, or the name of what plays it.
    public var path: String
    /// What the device calls itself.
    public var name: String
    /// The USB vendor number.
    public var vendor: UInt16
    /// The USB product number.
    public var product: UInt16

    /// Makes an identity.
    public init(path: String, name: String = "", vendor: UInt16 = 0, product: UInt16 = 0) {
        self.path = path
        self.name = name
        self.vendor = vendor
        self.product = product
    }
}
