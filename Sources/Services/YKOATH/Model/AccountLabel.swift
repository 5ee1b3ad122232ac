// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Issuer and name of an account that another program stored.
struct AccountLabel {
    let issuer: String?
    let name: String

    /// Removes an issuer that the name repeats, as in `GitHub:alice` of GitHub, and lets the issuer stand in for a missing
    /// name.
    ///
    /// - Parameters:
    ///   - isSteam: Whether the codes are Steam's, which on a key only the issuer indicates.
    ///   - mayRepeatIssuer: Whether a name may begin with the issuer because the program does not separate the two.
    init(issuer: String?, name: String?, isSteam: Bool = false, mayRepeatIssuer: Bool = true) {
        var issuer = issuer ?? ""
        var name = name ?? ""
        if mayRepeatIssuer { name = Self.withoutIssuer(name, issuer) }
        if name.trimmed.isEmpty { (issuer, name) = ("", issuer) }
        let isKnown = !isSteam || issuer.lowercased() == "steam"
        self.issuer = isKnown ? (issuer.isEmpty ? nil : issuer) : "Steam"
        self.name = name
    }

    /// Throws if there is neither a name nor an issuer, or if one contains a zero character.
    func check() throws(OtpauthError) {
        if name.isEmpty { throw OtpauthError(.label, .empty) }
        if (name + (issuer ?? "")).utf8.contains(0) { throw OtpauthError(.label, .zeroCharacter) }
    }

    private static func withoutIssuer(_ name: String, _ issuer: String) -> String {
        let halves = name.halves(at: ":")
        guard halves.count == 2 else { return name }
        let first = halves[0].trimmed.lowercased()
        // A name that ends with its only colon is an issuer without a name.
        if issuer.isEmpty { return halves[1].trimmed.isEmpty ? halves[0].trimmed : name }
        return first == issuer.lowercased() ? halves[1].trimmed : name
    }
}
