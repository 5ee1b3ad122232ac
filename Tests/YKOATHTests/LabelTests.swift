// SPDX-License-Identifier: Apache-2.0

import Testing
import YKOATH
import YKTestSupport

/// Issuer and name of accounts that other programs stored.
struct LabelTests {
    private static func text(_ issuer: String, _ name: String, isSteam: Bool = false) -> String {
        let label = AccountLabel(issuer: issuer, name: name, isSteam: isSteam)
        return OATHAccountID(issuer: label.issuer, name: label.name).text
    }

    @Test(arguments: [
        ("GitHub", "", "GitHub"), ("", "bob", "bob"), ("Facebook", "Facebook:bob", "Facebook:bob"),
        ("GitHub", "github: bob", "GitHub:bob"), ("Google", "Gmail:bob", "Google:Gmail:bob"),
        ("GitHub", "GitHub:", "GitHub"), ("", "GitHub:", "GitHub"), ("", "a:b", "a:b"),
    ])
    func labels(issuer: String, name: String, text: String) { expect(Self.text(issuer, name), is: text) }

    @Test func steamStaysSteam() {
        expect(Self.text("Valve", "", isSteam: true), is: "Steam:Valve")
        expect(Self.text("", "bob", isSteam: true), is: "Steam:bob")
    }
}
