// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// Accounts as `otpauth://` URIs (Google Authenticator, "Key Uri Format").
public enum OtpauthURI {
    /// Reads a URI.
    ///
    /// The issuer is taken from the parameter, otherwise from the label; it stands in for a missing name. Steam accounts
    /// are recognized by their type, the parameter `encoder=steam`, or their issuer; they may have five digits. Unknown
    /// parameters, and a period or counter that the type does not have, are skipped, and empty ones have their default. A
    /// URI that was copied out of HTML may have `&amp;` between its parameters.
    ///
    /// With `validating` off, an empty label, a repeated parameter and numbers out of range are accepted, for a form in
    /// which the user corrects them.
    ///
    /// - Throws: The field and what is wrong with it: for a two-step enrollment, the secret.
    public static func parse(_ text: String, validating: Bool = true) throws(OtpauthError) -> NewOATHAccount {
        let parts = try OtpauthParts(text, allowsRepeats: !validating)
        if parts.isTwoStep { throw OtpauthError(.secret, .twoStep) }
        return try account(parts, validating: validating)
    }

    /// Returns the parameters of a URI that ``parse(_:validating:)`` skips although their names show that they would change
    /// the codes, such as `interval`, each with the format's name for it; `nil` for the start of the time steps, which is
    /// always 1970.
    public static func misnamedParameters(of text: String) -> [(name: String, meant: String?)] {
        (try? OtpauthParts(text, allowsRepeats: true))?.misnamed ?? []
    }

    /// Reads a URI that may have only the server's half of the secret.
    package static func parse(twoStep text: String) throws(OtpauthError) -> NewOATHAccount {
        try account(try OtpauthParts(text, allowsRepeats: false))
    }

    /// Reads a URI that a program stores with a title and a user name, which replace what its label lacks.
    package static func parse(_ text: String, title: String?, user: String?) throws(OtpauthError) -> NewOATHAccount {
        let parts = try OtpauthParts(text, allowsRepeats: false)
        if parts.isTwoStep { throw OtpauthError(.secret, .twoStep) }
        let standIn = AccountLabel(issuer: title == user ? nil : title?.trimmed, name: user?.trimmed)
        return try account(parts, standIn: standIn, droppingRest: true)
    }

    private static func account(
        _ parts: OtpauthParts, validating: Bool = true, standIn: AccountLabel? = nil, droppingRest: Bool = false
    ) throws(OtpauthError) -> NewOATHAccount {
        let (labelIssuer, name) = try parts.labelFields()
        let isSteam = parts.isSteam || labelIssuer?.lowercased() == "steam"
        var (issuer, written) = (parts["issuer"] ?? labelIssuer, name)
        if name.isEmpty, let standIn {
            issuer = issuer ?? standIn.issuer
            if standIn.name != issuer { written = standIn.name }
        }
        let label = AccountLabel(issuer: issuer, name: written, isSteam: isSteam, mayRepeatIssuer: false)
        if validating { try label.check() }
        let isTOTP = parts.type == .totp
        let digits = try parts.number(.digits, in: validating ? 5...8 : 0...99) ?? 6
        let periods = validating ? 1...Int64(Int32.max) : 0...Int64(Int32.max)
        let period = isTOTP ? try parts.number(.period, in: periods) ?? 30 : 30
        let counter = isTOTP ? 0 : try parts.number(.counter, in: 0...Int64(UInt32.max)) ?? 0
        let takesFive = isSteam || label.issuer?.lowercased() == "steam"
        if validating, digits == 5, !takesFive { throw OtpauthError(.digits, .outOfRange("5", 6...8)) }
        let id = OATHAccountID(issuer: label.issuer, name: label.name, period: .seconds(period), type: parts.type)
        return NewOATHAccount(
            id: id, secret: try parts.secret(droppingRest: droppingRest), algorithm: try parts.algorithm(),
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

    /// Writes the fields that a key reveals about an account: a URI without the secret, which cannot be used to enroll.
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
