// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// The parts of an `otpauth://` URI, before its fields are parsed.
struct OtpauthParts {
    let type: OATHType
    private(set) var isSteam: Bool
    private let label: Substring
    private var parameters: [String: String] = [:]

    init(_ text: String, allowsRepeats: Bool) throws(OtpauthError) {
        let scheme = "otpauth://"
        let trimmed = text.trimmed
        guard trimmed.lowercased().hasPrefix(scheme) else {
            let other = trimmed.firstRange(of: "://").flatMap { Quotable.scheme(trimmed[..<$0.lowerBound]) }
            throw OtpauthError(.scheme, other.map { .notUnderstood($0) } ?? .missing)
        }
        let body = Self.unescaped(String(trimmed.dropFirst(scheme.count))).prefix { $0 != "#" }
        let halves = body.halves(at: "?")
        let path = halves[0].halves(at: "/")
        switch path[0].lowercased() {
        case "totp": (type, isSteam) = (.totp, false)
        case "hotp": (type, isSteam) = (.hotp, false)
        case "steam": (type, isSteam) = (.totp, true)
        case "": throw OtpauthError(.type, .missing)
        default: throw OtpauthError(.type, .notUnderstood(Quotable.name(path[0])))
        }
        label = path.count > 1 ? path[1] : ""
        try read(query: halves.count > 1 ? halves[1] : "", allowsRepeats: allowsRepeats)
        if parameters["encoder"]?.lowercased() == "steam" { isSteam = true }
    }

    /// The value of a parameter; `nil` if it is absent or empty.
    subscript(name: String) -> String? { parameters[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// Whether the device must contribute to the secret (privacyIDEA, "2stepinit").
    var isTwoStep: Bool { parameters.keys.contains { $0.hasPrefix("2step_") } }

    /// Undoes the escaping of a URI that was copied out of HTML (HTML 4.01 §B.2.2).
    private static func unescaped(_ text: String) -> String {
        var text = text
        for entity in ["&amp;", "&#38;", "&#038;", "&#x26;"] {
            while text.contains(bytesOf: entity) { text = text.replacing(entity, with: "&") }
        }
        return text
    }

    private mutating func read(query: Substring, allowsRepeats: Bool) throws(OtpauthError) {
        for pair in query.split(separator: "&") {
            let halves = pair.halves(at: "=")
            let key = halves[0].lowercased()
            let field = OtpauthError.Field(rawValue: key) ?? .query
            let raw = halves.count > 1 ? String(halves[1].map { $0 == "+" ? " " : $0 }) : ""
            guard let value = PercentEncoding.decode(raw) else { throw OtpauthError(field, .badEncoding) }
            guard let first = parameters[key] else {
                parameters[key] = value
                continue
            }
            guard first == value || allowsRepeats || field == .query else { throw OtpauthError(field, .duplicate) }
        }
    }

    /// Escapes the percent signs that do not begin an escape, which browsers and authenticators take literally.
    private static func literal(_ text: Substring) -> String {
        let parts = text.split(separator: "%", omittingEmptySubsequences: false)
        return parts.dropFirst().reduce(String(parts.first ?? "")) { result, part in
            let digits = part.utf8.prefix(2)
            let isEscape = digits.count == 2 && (try? Hex.decode(String(Substring(digits)))) != nil
            return result + (isEscape ? "%" : "%25") + part
        }
    }

    /// Issuer and name without surrounding spaces. The colon between them may be percent-encoded; an unencoded colon
    /// takes precedence, and encoded ones are then part of the issuer and name.
    func labelFields() throws(OtpauthError) -> (issuer: String?, name: String) {
        var parts = label.halves(at: ":").map { PercentEncoding.decode(Self.literal($0)) }
        if let issuer = self["issuer"], let whole = PercentEncoding.decode(Self.literal(label)),
            issuer.utf8.contains(UInt8(ascii: ":")), whole.hasPrefix(issuer + ":")
        {
            parts = [issuer, String(whole.dropFirst(issuer.count + 1))]
        }
        if parts.count == 1 { parts = parts[0]?.halves(at: ":").map(String.init) ?? [nil] }
        guard let first = parts[0], let last = parts[parts.count - 1] else {
            throw OtpauthError(.label, .badEncoding)
        }
        guard parts.count == 2 else { return (nil, last.trimmed) }
        return (first.trimmed.isEmpty ? nil : first.trimmed, last.trimmed)
    }

    /// The secret. An incomplete byte at its end is dropped if the program that wrote the URI does so.
    func secret(droppingRest: Bool) throws(OtpauthError) -> Secret {
        guard let text = parameters["secret"] else { throw OtpauthError(.secret, .missing) }
        guard var bytes = try? Base32.decode(text, droppingRest: true) else {
            throw OtpauthError(.secret, .badBase32)
        }
        defer { Secret.wipe(&bytes) }
        guard droppingRest || (try? Base32.decode(text)) != nil else { throw OtpauthError(.secret, .incompleteBase32) }
        if bytes.isEmpty { throw OtpauthError(.secret, .empty) }
        return Secret(bytes)
    }

    /// The parameters under names that the format does not have, whose values would change the codes, with the format's
    /// name; `nil` for the start of the time steps, which it has not.
    var misnamed: [(name: String, meant: String?)] {
        Self.synonyms.compactMap { name, meant, standard in
            guard let value = self[name]?.lowercased(), value != (meant.flatMap { self[$0] } ?? standard).lowercased()
            else { return nil }
            return (name, meant)
        }
    }

    /// Names that programs have used, the format's names, and the defaults.
    private static let synonyms: [(name: String, meant: String?, standard: String)] = [
        ("interval", "period", "30"), ("step", "period", "30"), ("timestep", "period", "30"),
        ("algo", "algorithm", "SHA1"), ("alg", "algorithm", "SHA1"), ("digit", "digits", "6"), ("t0", nil, "0"),
        ("offset", nil, "0"),
    ]

    func algorithm() throws(OtpauthError) -> OATHAlgorithm {
        guard let name = self["algorithm"] else { return .sha1 }
        guard let algorithm = OATHAlgorithm(name: name) else {
            throw OtpauthError(.algorithm, .notUnderstood(Quotable.name(name)))
        }
        return algorithm
    }

    func number(_ field: OtpauthError.Field, in range: ClosedRange<Int64>) throws(OtpauthError) -> Int64? {
        guard let text = self[field.rawValue] else { return nil }
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let value = Int64(text), range.contains(value)
        else {
            throw OtpauthError(field, .outOfRange(Quotable.number(text), range))
        }
        return value
    }
}

extension StringProtocol {
    /// Splits at the first separator; returns everything if there is none. Compares scalars, because a combining
    /// character after the separator would form one `Character` with it.
    package func halves(at separator: Unicode.Scalar) -> [Substring] {
        let scalars = Substring(self).unicodeScalars
        guard let place = scalars.firstIndex(of: separator) else { return [Substring(self)] }
        return [Substring(scalars[..<place]), Substring(scalars[scalars.index(after: place)...])]
    }
}
