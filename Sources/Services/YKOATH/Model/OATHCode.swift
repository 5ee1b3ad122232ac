// SPDX-License-Identifier: Apache-2.0

/// A one-time code and when it is valid.
public struct OATHCode: Hashable, Sendable {
    /// The code as it is typed in.
    public let text: String
    /// The first second it is valid, since 1970; for a counter-based code the time it was made.
    public let validFrom: Int64
    /// The first second it is no longer valid, since 1970; `nil` for a counter-based code, valid until one is used.
    public let validTo: Int64?

    /// Makes a code.
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
