// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKHTTP
import YKPIV
import YKStore
import YKTestSupport
import YKTransport
import YKWire

@testable import YKApproval

/// Accounts in the store, and the history.
struct AccountTests {
    private func account(_ place: ApprovalKeyPlace = .software) throws -> PushAccount {
        let vectors = try PushVectors()
        return PushAccount(
            try PushLink(vectors.link), name: "work", serverKey: vectors.server.publicKey,
            publicKey: vectors.device.publicKey, place: place, address: "topic",
            trust: HTTPTrust(authorities: "/ca.pem", pins: [try HTTPPin(hash: 7)]), added: 1_795_319_925)
    }

    @Test func keepsAccountsInTheStore() throws {
        let slot = try #require(PIVSlot.retired(3))
        let place = PIVKeyPlace(
            slot: slot, keySerial: 12_345, policies: KeyPolicies(pin: .once, touch: .cached), attestation: [1, 2])
        for place in [ApprovalKeyPlace.software, .piv(place)] {
            let made = try account(place)
            var store = SealedStore(service: ApprovalStore.service)
            store.put(made.stored.record)
            let read = try SealedStore(
                parsing: Array(store.json.text.utf8), service: ApprovalStore.service, path: "approve.json")
            let accounts = try ApprovalStore.accounts(of: read, path: "approve.json")
            let found = try #require(accounts.first.flatMap { PushAccount($0) })
            #expect(accounts.count == 1 && found.stored == made.stored && found.place == place)
            #expect(found.serverKey == made.serverKey && found.address == "topic" && found.trust == made.trust)
            #expect(found.account.id == "PIPU0000CAFE@pi.example" && !read.records[0].hasSecret)
        }
        #expect(try account(.piv(place)).needsTouch)
        #expect(try !account().needsTouch)
        #expect(try account(.piv(place)).place.slot == slot && account(.piv(place)).place.keySerial == 12_345)
    }

    @Test func refusesRecordsThatAreNoAccounts() throws {
        let stored = try account().stored
        for name in ["kind", "name", "serial", "issuer", "server", "added", "details"] {
            var object = try #require(stored.description.object)
            object[name] = name == "server" ? "elsewhere" : .null
            var store = SealedStore(service: ApprovalStore.service)
            store.put(StoreRecord(id: stored.id, description: .object(object)))
            #expect(throws: StoreError.malformed(path: "f", reason: "an account cannot be read")) {
                try ApprovalStore.accounts(of: store, path: "f")
            }
        }
        for name in ["url", "serverKey", "publicKey", "key", "trust"] {
            var other = stored
            other.details[name] = ["pins": ["x"], "verified": true]
            expect(PushAccount(other), is: nil)
        }
        var other = stored
        other.details["key"] = ["kind": "piv", "slot": "9z"]
        expect(PushAccount(other), is: nil)
        expect(PushAccount(ApprovalAccount(.totp, name: "", serial: "", issuer: "", server: "", added: 0)), is: nil)
    }

    @Test func findsAccountsByName() throws {
        func make(_ name: String, _ serial: String, _ server: String) -> ApprovalAccount {
            ApprovalAccount(.push, name: name, serial: serial, issuer: "Acme", server: server, added: 0)
        }
        let accounts = [
            make("work", "P1", "a.example"), make("workshop", "P2", "a.example"), make("home", "P1", "b.example"),
        ]
        func names(_ query: String) -> [String] { ApprovalStore.matches(query, in: accounts).map(\.name) }
        #expect(names("work") == ["work"] && names("WORK") == ["work", "workshop"] && names("P1") == ["work", "home"])
        let composed = [make("caf\u{E9}", "P3", "c.example")]
        expect(ApprovalStore.matches("Cafe\u{301}", in: composed).count, is: 1)
        #expect(ApprovalStore.matches("cafe", in: composed).isEmpty)
        #expect(names("b.exa") == ["home"] && names("acme").count == 3 && names("nobody") == [])
        expect(ApprovalStore.freeName("work", in: accounts), is: "work 2")
        expect(ApprovalStore.freeName(" \u{1B}\n", in: accounts), is: "account")
        expect(ApprovalStore.freeName(String(repeating: "n", count: 100), in: []).count, is: 60)
    }

    private func event(_ time: Int64, _ nonce: String, isAccepted: Bool? = true) -> ApprovalEvent {
        ApprovalEvent(
            time: time, account: "a", decision: "approved", isAccepted: isAccepted,
            challenge: ["nonce": .string(nonce), "question": "A|\u{202E}B"], signedText: "t", signature: "s")
    }

    @Test func chainsTheHistory() throws {
        var history = ApprovalHistory(parsing: [])
        #expect(history.head == nil && history.fault == nil)
        let lines = [
            history.append(event(1, "A")), history.append(event(2, "B", isAccepted: nil)),
            history.append(event(3, "C", isAccepted: false)),
        ]
        let read = ApprovalHistory(parsing: Array(lines.joined(separator: "\n").utf8) + [0x0A])
        #expect(read.events == history.events && read.head == history.head && read.fault == nil)
        #expect(read.isAnswered("A", account: "a") && !read.isAnswered("A", account: "b"))
        #expect(!read.isAnswered("B", account: "a") && !read.isAnswered("C", account: "a"))
        func fault(_ lines: [String]) -> Int? {
            ApprovalHistory(parsing: Array(lines.joined(separator: "\n").utf8)).fault
        }
        #expect(fault([lines[0], lines[2]]) == 2 && fault([lines[1], lines[0]]) == 2)
        expect(fault([lines[0].replacing("approved", with: "declined"), lines[1]]), is: 2)
        #expect(fault([lines[0], "{}", lines[2]]) == 2 && fault(["x"]) == 1)
        // Cut at the end it still reads; the hash of the last line tells.
        #expect(ApprovalHistory(parsing: Array(lines[0].utf8)).head != history.head)
    }

    @Test func forgetsOldEvents() throws {
        var history = ApprovalHistory(parsing: [])
        let text = [history.append(event(1, "A")), history.append(event(ApprovalHistory.age.components.seconds, "B"))]
            .joined(
                separator: "\n")
        let head = history.head
        let none = history.prune(at: 5)
        #expect(!none)
        let some = history.prune(at: ApprovalHistory.age.components.seconds + 2)
        #expect(some && history.events.map(\.nonce) == ["B"] && history.head == head)
        expect(ApprovalHistory(parsing: Array(history.lines.joined(separator: "\n").utf8)).fault, is: nil)
        var cut = ApprovalHistory(parsing: Array(text.utf8) + Array("\nx".utf8))
        let kept = cut.prune(at: .max / 2)
        #expect(!kept && cut.fault == 3)
    }
}

extension HTTPPin {
    fileprivate init(hash byte: UInt8) throws(HTTPError) {
        self = try HTTPPin("sha256/" + Base64.encode([UInt8](repeating: byte, count: 32)))
    }
}
