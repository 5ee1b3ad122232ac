// SPDX-License-Identifier: Apache-2.0

/// The purpose of a HID device: a page of the HID Usage Tables and a usage on it.
public struct HIDUsage: Hashable, Sendable, CustomStringConvertible {
    /// The usage page.
    public var page: UInt16
    /// The usage on the page.
    public var id: UInt16

    /// Creates a usage.
    public init(page: UInt16, id: UInt16) {
        self.page = page
        self.id = id
    }

    /// A FIDO authenticator (CTAP 2.2 §11.2.8.2, usage page F1D0).
    public static let fido = HIDUsage(page: 0xF1D0, id: 1)
    /// A keyboard (HID Usage Tables §10).
    public static let keyboard = HIDUsage(page: 1, id: 6)

    /// Page and usage as four hexadecimal digits each.
    public var description: String { Hex.encode([page, id].flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }) }
}
