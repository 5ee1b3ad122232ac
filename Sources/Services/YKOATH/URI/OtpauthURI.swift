// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// Accounts as `otpauth://` URIs (Google Authenticator, "Key Uri Format").
public enum OtpauthURI {
    /// Reads a URI.
    ///
    /// The issuer is taken from the parameter, otherwise from the label. Steam accounts are recognised by their type,
    /// the parameter `encoder=steam`, or their issuer; they may have five digits. Unknown parameters are skipped.
    ///
    /// With `validating` off, an empty label, a repeated parameter and numbers out of range are accepted, for a form in
    /// which the user corrects them.
    ///
    /// - Throws: The field and what is wrong with it.
    public static func parse(_ text: String, validating: Bool = true) throws(OtpauthError) -> NewOATHAccount {
        let parts = try OtpauthParts(text, allowsRepeats: !validating)
        let (labelIssuer, name) = try parts.labelFields()
        let isSteam = parts.isSteam || labelIssuer?.lowercased() == "steam"
        let given = parts["issuer"].flatMap { $0.isEmpty ? nil : $0 } ?? labelIssuer
        // On a key only the issuer says that codes are Steam's.
        let issuer = isSteam && given?.lowercased() != "steam" ? "Steam" : given
        if validating, name.isEmpty { throw OtpauthError(.label, .empty) }
        let digits = try parts.number(.digits, in: validating ? 5...8 : 0...99) ?? 6
        let period = try parts.number(.period, in: validating ? 1...Int64(Int32.max) : 0...Int64(Int32.max)) ?? 30
        let counter = try parts.number(.counter, in: 0...Int64(UInt32.max)) ?? 0
        let takesFive = isSteam || issuer?.lowercased() == "steam"
        if validating, digits == 5, !takesFive { throw OtpauthError(.digits, .outOfRange("5", 6...8)) }
        let id = OATHAccountID(issuer: issuer, name: name, period: .seconds(period), type: parts.type)
        return NewOATHAccount(
            id: id, secret: try parts.secret(), algorithm: try parts.algorithm(),
            digits: digits == 5 && takesFive ? 6 : Int(digits),
            counter: UInt32(truncatingIfNeeded: counter))
    }

    /// Writes all fields of an account that a URI supports; the result contains the secret.
    public static func text(_ account: NewOATHAccount) -> String {
        var secret = account.secret.value.copyBytes()
        defer { Secret.wipe(&secret) }
        let isHOTP = account.id.type == .hotp
        return text(
            account.id,
            [
                ("secret", Base32.encode(secret)), ("issuer", account.id.issuer.map(PercentEncoding.encode)),
                ("algorithm", account.algorithm.description), ("digits", "\(account.digits)"),
                isHOTP ? ("counter", "\(account.counter)") : ("period", "\(account.id.period.components.seconds)"),
            ])
    }

    /// Writes the fields that a key reveals about an account: a URI without the secret, which cannot be used to enrol.
    public static func textWithoutSecret(_ account: OATHAccount) -> String {
        text(
            account.id,
            [
                ("issuer", account.id.issuer.map(PercentEncoding.encode)),
                ("algorithm", account.algorithm?.description), ("digits", account.digits.map { "\($0)" }),
                ("period", account.type == .totp ? "\(account.id.period.components.seconds)" : nil),
            ])
    }

    private static func text(_ id: OATHAccountID, _ parameters: [(String, String?)]) -> String {
        // A colon in a name without an issuer would be read as the end of one.
        let issuer = id.issuer.map(PercentEncoding.encode) ?? (id.name.utf8.contains(UInt8(ascii: ":")) ? "" : nil)
        let label = [issuer, PercentEncoding.encode(id.name)].compactMap { $0 }.joined(separator: ":")
        let query = parameters.compactMap { key, value in value.map { "\(key)=\($0)" } }.joined(separator: "&")
        return "otpauth://\(id.type == .hotp ? "hotp" : "totp")/\(label)?\(query)"
    }
}
