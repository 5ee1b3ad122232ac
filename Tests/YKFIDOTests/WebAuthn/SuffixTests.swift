// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKTestSupport
import YKWire

@testable import YKFIDO

/// The Public Suffix List: the built-in one, and the system's through libpsl.
struct SuffixTests {
    /// A file of the list that was last changed on a day, read by libpsl.
    private func list(_ rules: String, of date: UTCDate) throws -> PublicSuffixList {
        let path = NSTemporaryDirectory() + "suffixes.\(UInt64.random(in: 0 ... .max))"
        try Data(rules.utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let time = Date(timeIntervalSince1970: Double(date.seconds))
        try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: path)
        return PublicSuffixList(file: path)
    }

    private let future = UTCDate(2099, 1, 2)

    @Test func newerListOfSystemDecides() throws {
        let day = try #require(future)
        let list = try list("com\nio\nexample.com\n*.ck\n!www.ck\n", of: day)
        #expect(list.isOfSystem && list.date == day)
        let page = try Origin("https://a.b.example.com")
        try expect(page.relyingPartyID("b.example.com", by: list), is: "b.example.com")
        #expect(throws: WebAuthnError.relyingParty(id: "example.com", origin: page.description, .publicSuffix)) {
            try page.relyingPartyID("example.com", by: list)
        }
        try expect(page.relyingPartyID("example.com", by: .builtIn), is: "example.com")
        // No longer in the list.
        try expect(Origin("https://me.github.io").relyingPartyID("github.io", by: list), is: "github.io")
        for (domain, suffix) in [
            ("a.com", "com"), ("com", "com"), ("x.test.ck", "test.ck"), ("a.www.ck", "ck"), ("www.ck", "ck"),
            ("a.b.unknown", "unknown"), ("localhost", "localhost"), ("example.com", "example.com"),
        ] {
            expect(list.publicSuffix(of: domain), is: suffix)
        }
        expect(list.registrableDomain(of: "x.a.example.com"), is: "a.example.com")
    }

    @Test func olderListOfSystemIsIgnored() throws {
        let list = try list("com\nexample.com\n", of: PublicSuffixList.builtIn.date)
        // The system's own list may be newer than both.
        expect(list.isOfSystem, is: PublicSuffixList.newest.isOfSystem)
        #expect(list.date == PublicSuffixList.newest.date && list.date >= PublicSuffixList.builtIn.date)
    }

    @Test func unreadableListIsIgnored() throws {
        let list = try list("", of: try #require(future))
        expect(list.publicSuffix(of: "me.github.io"), is: "github.io")
    }

    /// A list of February 2023 lacks it.
    @Test func noTenantOfAHostSpeaksForAll() throws {
        let page = try Origin("https://tenant.amplifyapp.com")
        for list in [PublicSuffixList.newest, .builtIn] {
            #expect(throws: WebAuthnError.relyingParty(id: "amplifyapp.com", origin: page.description, .publicSuffix)) {
                try page.relyingPartyID("amplifyapp.com", by: list)
            }
        }
    }

    @Test func hasAnAge() {
        let list = PublicSuffixList.builtIn
        #expect(!list.isOfSystem && list.date >= UTCDate(2026, 10, 22) ?? UTCDate(day: 0))
        #expect(!list.isOld(at: list.date.seconds) && !list.isOld(at: list.date.seconds + 366 * 86_400 - 1))
        #expect(list.isOld(at: list.date.seconds + 366 * 86_400))
    }

    /// In the manner of the list's own tests: plain rules, wildcards, exceptions, private ones, Punycode, none.
    @Test(arguments: [
        ("com", "com"), ("example.com", "com"), ("b.example.com", "com"), ("unknown", "unknown"),
        ("a.b.unknown", "unknown"), ("uk", "uk"), ("www.bbc.co.uk", "co.uk"), ("example.uk", "uk"),
        ("c.mm", "c.mm"), ("b.c.mm", "c.mm"), ("a.b.c.mm", "c.mm"), ("jp", "jp"), ("test.jp", "jp"),
        ("www.test.ac.jp", "ac.jp"), ("a.c.kobe.jp", "c.kobe.jp"), ("www.city.kobe.jp", "kobe.jp"),
        ("city.kobe.jp", "kobe.jp"), ("kobe.jp", "jp"), ("www.ck", "ck"), ("x.www.ck", "ck"), ("x.test.ck", "test.ck"),
        ("test.k12.ak.us", "k12.ak.us"), ("www.test.ak.us", "ak.us"), ("me.github.io", "github.io"),
        ("shishi.xn--fiqs8s", "xn--fiqs8s"), ("x.xn--55qx5d.cn", "xn--55qx5d.cn"), ("", ""), (".", ""), ("..", ""),
        ("zzzz.zuerich", "zuerich"), ("aaa", "aaa"), ("x.aaa", "aaa"), ("!", "!"), ("*", "*"),
    ])
    func findsPublicSuffixes(_ domain: String, _ suffix: String) {
        expect(PublicSuffixList.builtIn.publicSuffix(of: domain), is: suffix)
    }

    @Test func findsRegistrableDomains() {
        expect(PublicSuffixList.builtIn.registrableDomain(of: "a.b.example.co.uk"), is: "example.co.uk")
        expect(PublicSuffixList.builtIn.registrableDomain(of: "co.uk"), is: "co.uk")
        expect(PublicSuffixList.builtIn.registrableDomain(of: "localhost"), is: "localhost")
    }
}
