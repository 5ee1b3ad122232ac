// SPDX-License-Identifier: Apache-2.0

/// A report descriptor (Device Class Definition for HID 1.11 §6.2.2): what a HID device is for, and how long its
/// reports are.
public struct HIDReportDescriptor: Hashable, Sendable {
    /// The three kinds of reports (HID 1.11 §6.2.2.5).
    public enum Kind: Hashable, Sendable {
        /// From the device.
        case input
        /// To the device.
        case output
        /// Read and written over the control endpoint.
        case feature
    }

    /// One report: its kind, and its number if the device numbers its reports.
    public struct Report: Hashable, Sendable {
        /// The kind.
        public var kind: Kind
        /// The report number; 0 for unnumbered reports.
        public var number: UInt8

        /// Creates a report.
        public init(_ kind: Kind, number: UInt8 = 0) {
            self.kind = kind
            self.number = number
        }
    }

    /// The usages of the top-level collections, in the order of the descriptor.
    public internal(set) var usages: [HIDUsage] = []
    /// The length of each report in bits, without its number.
    private var lengths: [Length] = []
    private struct Length: Hashable {
        let report: Report
        var bits: Int
    }

    /// The length of a report in bits.
    subscript(report: Report) -> Int {
        get { lengths.first { $0.report == report }?.bits ?? 0 }
        set {
            if let index = lengths.firstIndex(where: { $0.report == report }) {
                lengths[index].bits = newValue
            } else {
                lengths.append(Length(report: report, bits: newValue))
            }
        }
    }

    /// Whether every report is prefixed with its number.
    public internal(set) var hasNumbers = false

    /// Whether this is a FIDO authenticator.
    public var isFIDO: Bool { usages.contains(.fido) }

    /// Whether this is a keyboard with an 8-byte feature report, the interface of a YubiKey's OTP application.
    public var isOTPKeyboard: Bool { usages.contains(.keyboard) && length(of: .feature) == 8 }

    /// The length in bytes, without its number, of the longest report of a kind; 0 when there is none.
    public func length(of kind: Kind) -> Int {
        lengths.reduce(0) { $1.report.kind == kind ? max($0, ($1.bits + 7) / 8) : $0 }
    }

    /// The lowest report number of a kind; 0 for unnumbered reports.
    public func number(of kind: Kind) -> UInt8 {
        lengths.reduce(nil) { $1.report.kind == kind ? min($0 ?? .max, $1.report.number) : $0 } ?? 0
    }
}
