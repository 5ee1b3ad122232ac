// SPDX-License-Identifier: Apache-2.0

extension OATHAccountID {
    /// Parses the name stored on a key; invalid UTF-8 becomes replacement characters.
    public init(rawName: [UInt8], type: OATHType = .totp) {
        self.rawName = rawName
        self.type = type
        var rest = rawName[...]
        if type == .totp, let (period, name) = Self.split(rest) {
            self.period = period
            rest = name
        } else {
            period = Self.usualPeriod
        }
        let parts = rest.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty {
            issuer = String(decoding: parts[0], as: UTF8.self)
            name = String(decoding: parts[1], as: UTF8.self)
        } else {
            issuer = nil
            name = String(decoding: rest, as: UTF8.self)
        }
    }

    /// Composes the name stored on a key.
    ///
    /// A colon in the issuer, or in a name without an issuer, ends the issuer: the fields are the ones that would be
    /// read back. A name that looks like a period gets the default period as a prefix.
    ///
    /// - Parameter period: How long a code is valid; fractions of a second are dropped.
    public init(issuer: String?, name: String, period: Duration = Self.usualPeriod, type: OATHType = .totp) {
        let issuer = issuer.flatMap { $0.isEmpty ? nil : $0 }
        let plain = Array((issuer.map { "\($0):\(name)" } ?? name).utf8)
        let period = period.components.seconds
        let needsPeriod = period > 0 && .seconds(period) != Self.usualPeriod || Self.split(plain[...]) != nil
        let prefix = type == .totp && needsPeriod && !plain.isEmpty ? Array("\(period)/".utf8) : []
        self.init(rawName: prefix + plain, type: type)
    }

    /// Splits off a period of at least one second before a slash.
    private static func split(_ name: ArraySlice<UInt8>) -> (Duration, ArraySlice<UInt8>)? {
        guard let slash = name.firstIndex(of: UInt8(ascii: "/")), slash < name.index(before: name.endIndex) else {
            return nil
        }
        let digits = name[..<slash]
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }),
            let period = Int32(String(decoding: digits, as: UTF8.self)), period > 0
        else { return nil }
        return (.seconds(period), name[name.index(after: slash)...])
    }
}
