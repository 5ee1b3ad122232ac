// SPDX-License-Identifier: Apache-2.0

/// A one-time code and its validity.
public struct OATHCode: Hashable, Sendable {
    /// The code as the user types it.
    public let text: String
    /// The first second of its validity, since 1970; for a counter-based code the time it was calculated.
    public let validFrom: Int64
    /// The first second after its validity, since 1970; `nil` for a counter-based code, which is valid until one is
    /// used.
    public let validTo: Int64?

    /// Creates a code.
    public init(text: String, validFrom: Int64, validTo: Int64?) {
        self.text = text
        self.validFrom = validFrom
        self.validTo = validTo
    }

    init(text: String, id: OATHAccountID, at time: Int64) {
        guard id.type == .totp else {
            self.init(text: text, validFrom: time, validTo: nil)
            return
        }
        let step = TimeStep(of: time, period: id.period)
        self.init(text: text, validFrom: step.start, validTo: step.end)
    }
}

extension OATHCode: CustomStringConvertible {
    /// The code as the user types it.
    public var description: String { text }
}
