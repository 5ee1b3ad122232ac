// SPDX-License-Identifier: Apache-2.0

import Testing
import YKInteraction
import YKTestSupport

/// Names and patterns of what programs on another machine may ask for.
struct RemotePolicyTests {
    @Test("one star; it does not include what is no site, unless its scheme is named")
    func patterns() throws {
        for (pattern, site, isMatch) in [
            ("example.com", "example.com", true), ("example.com", "www.example.com", false),
            ("*", "example.com", true), ("*", "ssh:", false), ("*", "io.systemd.cryptsetup", false),
            ("s*", "ssh:", false), ("ssh:*", "ssh:", true), ("ssh:*", "ssh:x", true), ("pam://*", "pam://lab", true),
            ("io.systemd.*", "io.systemd.cryptsetup", false),
            ("io.systemd.cryptsetup", "io.systemd.cryptsetup", true), ("a*a", "a", false), ("ex*.com", "ex.com", true),
            ("*.example.com", "example.com", false), ("*.example.com", "a.example.com", true),
        ] {
            try expect(#require(NamePattern(pattern)).matches(site), is: isMatch, "\(pattern) \(site)")
            expect(NamePattern(pattern)?.description, is: pattern)
        }
        for text in ["", "a*b*", "a\n", String(repeating: "a", count: 256)] { expect(NamePattern(text), is: nil) }
    }

    @Test("without names every site; with names no other, and local secrets only by name")
    func names() throws {
        var policy = RemotePolicy()
        #expect(policy.refusal(of: "example.com") == nil && policy.refusal(of: "ssh:") == .localSecret)
        #expect(!policy.isNamed("example.com"))
        policy.allowedAlways = [try #require(NamePattern("SHA256:*")), try #require(NamePattern("quiet.example"))]
        #expect(policy.isAllowedAlways("SHA256:abc") && policy.isNamed("quiet.example"))
        #expect(!policy.isAllowedAlways("example.com") && policy.refusal(of: "example.com") == nil)
        policy.allowed = [try #require(NamePattern("ssh:*"))]
        #expect(policy.refusal(of: "ssh:work") == nil && !policy.isAllowedAlways("ssh:work"))
        #expect(policy.refusal(of: "example.com") == .otherSite && policy.refusal(of: "pam://lab") == .localSecret)
    }
}
