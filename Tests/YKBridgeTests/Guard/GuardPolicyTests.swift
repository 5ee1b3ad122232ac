// SPDX-License-Identifier: Apache-2.0

import Testing
import YKInteraction
import YKTestSupport
import YKWire

@testable import YKBridge

/// What a guard decides about a request, and the lines between its parts.
struct GuardPolicyTests {
    private func decision(_ message: [UInt8], _ policy: GuardPolicy = GuardPolicy()) throws -> RemotePolicy.Decision {
        policy.decision(on: try RemoteRequest(message))
    }

    @Test("each use is asked for, also of what guards secrets of this machine")
    func asked() throws {
        for site in ["example.com", "ssh:", "pam://lab", "io.systemd.cryptsetup", "age-encryption.org", "ykit:store"] {
            try expect(decision(CTAP.signIn(site)), is: .proceed(asks: true), "\(site)")
            try expect(decision(CTAP.register(site)), is: .proceed(asks: true), "\(site)")
        }
    }

    @Test("a search and the choice between keys are not asked for")
    func unasked() throws {
        try expect(decision(CTAP.signIn(up: false)), is: .proceed(asks: false))
        try expect(decision([0x0B]), is: .proceed(asks: false))
        try expect(decision(CTAP.pin(1)), is: .proceed(asks: false))
    }

    @Test("a site can be refused, to searches too")
    func refused() throws {
        var policy = GuardPolicy()
        policy.refused = [try #require(NamePattern("*.example.com")), try #require(NamePattern("ssh:*"))]
        try expect(decision(CTAP.signIn("a.example.com"), policy), is: .refuse(0x27, .refusedSite))
        try expect(decision(CTAP.register("ssh:lab"), policy), is: .refuse(0x27, .refusedSite))
        try expect(decision(CTAP.signIn("a.example.com", up: false), policy), is: .refuse(0x2E, .refusedSite))
        try expect(decision(CTAP.signIn("example.com"), policy), is: .proceed(asks: true))
    }

    @Test(
        "administration is refused",
        arguments: [[0x07], [0x0A, 0xA0], [0x09, 0xA0], [0x0C, 0xA0], [0x0D, 0xA0]] as [[UInt8]])
    func administration(_ message: [UInt8]) throws {
        guard case .refuse(0x30, .command) = try decision(message) else {
            Issue.record("\(message) is not refused")
            return
        }
    }

    @Test("no PIN reaches the key from a program", arguments: [3, 4, 5, 9] as [UInt64])
    func pins(_ subcommand: UInt64) throws {
        guard case .refuse(0x30, .command) = try decision(CTAP.pin(subcommand)) else {
            Issue.record("subcommand \(subcommand) is not refused")
            return
        }
    }

    // MARK: lines

    @Test func requestsAreReadBack() throws {
        for request in [GuardRequest.serve, .status, .resume, .pause(1), .pause(86400), .away(.locked), .away(.asleep)]
        {
            try expect(GuardRequest(decoding: request.encoded.dropLast()), is: request)
        }
    }

    @Test(
        arguments: [
            "", "serve", "ykit-guard 2 serve", "ykit-guard 1 serve ", "ykit-guard 1 pause", "ykit-guard 1 pause 0",
            "ykit-guard 1 pause 86401", "ykit-guard 1 pause -1", "ykit-guard 1 pause 01", "ykit-guard 1  serve",
            "ykit-guard 1 serve\u{0}", "ykit-guard 1 away", "ykit-guard 1 away home", "ykit-guard 1 pause 4294967296",
            "ykit-guard 1 pause " + String(repeating: "1", count: 60),
        ])
    func otherRequestsAreRefused(_ line: String) {
        #expect(throws: WireError.self) { try GuardRequest(decoding: Array(line.utf8)) }
    }

    @Test func noticesAreReadBack() throws {
        let notices: [GuardNotice] = [
            .unseen(["firefox"]), .unseen(["firefox", "chromium"]),
            .key(node: "hidraw3"), .waiting, .paused(300), .busy(4711), .refused, .failed(13), .done,
            .state(GuardState()),
            .state(GuardState(process: 7, node: "hidraw1", device: "hidraw22", pause: 9)),
            .state(GuardState(process: 7, absence: .inactive)),
        ]
        for notice in notices {
            #expect(notice.encoded.count <= GuardNotice.limit)
            try expect(GuardNotice(decoding: notice.encoded.dropLast()), is: notice)
        }
    }

    @Test(
        arguments: [
            "", "key", "key ../hidraw1", "key hidraw", "key hidraw12345", "key sda", "state 1 - - x -",
            "state 1 sda - 0 -", "state 1 - - 0", "state 1 - - 0 home",
            "busy x", "paused", "key hidraw1 ",
        ])
    func otherNoticesAreRefused(_ line: String) {
        #expect(throws: WireError.self) { try GuardNotice(decoding: Array(line.utf8)) }
    }
}
