// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKWire

@testable import YKInventory

/// Inventories as files, and their comparison.
struct InventoryTests {
    private func inventory(_ items: [Inventory.Item], _ gaps: [Inventory.Gap] = []) -> Inventory {
        Inventory(
            key: InventoriedKey(name: "YubiKey 5", serial: "1", version: "5.7.1"), time: 1000, items: items, gaps: gaps)
    }

    @Test func savedAndRead() throws {
        let whole = inventory(
            [
                Inventory.Item(.passkey, "example.com 61", name: "alice", mark: "00", relyingParty: "example.com"),
                Inventory.Item(.oath, "Acme:alice", name: "Acme:alice"),
            ], [Inventory.Gap(.luks, .unknown)])
        let bytes = Array(whole.json.text.utf8)
        #expect(Inventory.isInventory(bytes) && !Inventory.isInventory(Array("{}".utf8)))
        try expect(Inventory(parsing: bytes), is: whole)
        expect(whole.json["timestamp"]?.string, is: "1970-01-01T00:16:40Z")
        let nameless = Inventory(key: InventoriedKey(name: "x"), time: 0)
        try expect(Inventory(parsing: Array(nameless.json.text.utf8)), is: nameless)
    }

    @Test(
        "what is not an inventory",
        arguments: [
            "x", "{}", #"{"format":"ykit-inventory"}"#, #"{"format":"ykit-inventory","formatVersion":1}"#,
            #"{"format":"ykit-inventory","formatVersion":1,"key":{"name":"x"},"time":1,"items":null}"#,
            #"{"format":"ykit-inventory","formatVersion":1,"key":{"name":"x"},"time":1,"items":{}}"#,
            #"{"format":"ykit-inventory","formatVersion":1,"key":{"name":"x"},"time":1,"items":[{"kind":"oath"}]}"#,
        ])
    func malformed(_ text: String) {
        do {
            _ = try Inventory(parsing: Array(text.utf8))
            Issue.record("read")
        } catch {
            guard case .malformed = error else {
                Issue.record(error)
                return
            }
        }
    }

    @Test func limits() {
        let later = #"{"format":"ykit-inventory","formatVersion":2}"#
        #expect(throws: InventoryError.version(2)) { try Inventory(parsing: Array(later.utf8)) }
        let huge = [UInt8](repeating: 0x20, count: 5 << 20)
        #expect(throws: InventoryError.malformed("5242880 bytes")) { try Inventory(parsing: huge) }
        let many =
            #"{"format":"ykit-inventory","formatVersion":1,"key":{"name":"x"},"time":1,"items":["#
            + [String](repeating: "0", count: 10_001).joined(separator: ",") + "]}"
        #expect(throws: InventoryError.malformed("10001 items")) { try Inventory(parsing: Array(many.utf8)) }
    }

    @Test func gapsOfLaterPrograms() throws {
        let text = """
            {"format":"ykit-inventory","formatVersion":1,"key":{"name":"x"},"time":1,
             "gaps":[{"kind":"new","reason":"x"},{"kind":"piv","reason":"new"}]}
            """
        try expect(Inventory(parsing: Array(text.utf8)).gaps, is: [Inventory.Gap(.piv, .failed)])
    }

    // MARK: comparison

    private func verdict(
        _ first: Inventory.Item, _ second: [Inventory.Item], _ gaps: [Inventory.Gap] = []
    ) -> InventoryComparison.Verdict? {
        InventoryComparison(of: inventory([first]), with: inventory(second, gaps)).rows.first?.verdict
    }

    @Test func verdicts() {
        let account = Inventory.Item(.oath, "a", name: "a", mark: "1")
        expect(verdict(account, [account]), is: .same)
        expect(verdict(account, [Inventory.Item(.oath, "a", name: "a", mark: "2")]), is: .different)
        expect(verdict(account, [Inventory.Item(.oath, "a", name: "a")]), is: .named)
        let renamed = Inventory.Item(.oath, "b", name: "b", mark: "1")
        #expect(verdict(account, [renamed]) == .renamed && InventoryComparison.Verdict.renamed.isCovered)
        expect(
            InventoryComparison(of: inventory([account]), with: inventory([renamed])).rows.first?.counterpart,
            is: renamed
        )
        #expect(InventoryComparison(of: inventory([account]), with: inventory([renamed])).additional.isEmpty)
        expect(verdict(account, [renamed, Inventory.Item(.oath, "a", name: "a", mark: "2")]), is: .different)
        expect(verdict(account, [], [Inventory.Gap(.oath, .locked)]), is: .unknown)
        expect(verdict(account, [], [Inventory.Gap(.piv, .failed)]), is: .missing)
        let passkey = Inventory.Item(.passkey, "p", name: "p", mark: "1")
        expect(verdict(passkey, [Inventory.Item(.passkey, "p", name: "p", mark: "2")]), is: .own)
        expect(verdict(passkey, [Inventory.Item(.ssh, "p", name: "p", mark: "1")]), is: .missing)
        let alice = Inventory.Item(.passkey, "x.org 61", name: "alice at x.org", mark: "1", relyingParty: "x.org")
        let other = Inventory.Item(.passkey, "x.org 62", name: "alice at x.org", mark: "2", relyingParty: "x.org")
        expect(verdict(alice, [other]), is: .named)
        let challenge = Inventory.Item(.otp, "slot 1", name: "slot 1", mark: "1")
        expect(verdict(challenge, [Inventory.Item(.otp, "slot 2", name: "slot 2", mark: "1")]), is: .renamed)
        expect(verdict(challenge, [Inventory.Item(.otp, "slot 1", name: "slot 1")]), is: .named)
        expect(verdict(Inventory.Item(.hsmAuth, "a", name: "a"), []), is: .missing)
        let slot = Inventory.Item(.piv, "9a x", name: "x", mark: "1")
        expect(verdict(slot, [Inventory.Item(.piv, "9c x", name: "x", mark: "1")]), is: .same)
        expect(verdict(slot, [Inventory.Item(.piv, "9a x", name: "x", mark: "2"), slot]), is: .same)
    }

    @Test("Kinds that one of two inventories does not list are not missing")
    func kinds() throws {
        let account = Inventory.Item(.oath, "a", name: "a", mark: "1")
        let challenge = Inventory.Item(.otp, "slot 1", name: "slot 1", mark: "1")
        var old = inventory([account])
        old.kinds = [.oath]
        let compared = InventoryComparison(of: inventory([account, challenge]), with: old)
        #expect(compared.rows.map(\.verdict) == [.same, .unknown] && !compared.isCovered)
        #expect(compared.unknownKinds.contains("otp") && !compared.unknownKinds.contains("oath"))
        #expect(InventoryComparison(of: old, with: inventory([account, challenge])).additional.isEmpty)
        let later =
            #"{"format":"ykit-inventory","formatVersion":1,"key":{"name":"x"},"time":1,"kinds":["oath","new"],"#
            + #""items":[{"kind":"new","target":"t","name":"n"},{"kind":"oath","target":"a","name":"a"}]}"#
        let read = try Inventory(parsing: Array(later.utf8))
        #expect(read.otherKinds == ["new"] && read.items.map(\.kind) == [.oath] && read.kinds == [.oath])
        #expect(InventoryComparison(of: read, with: read).unknownKinds.contains("new"))
        let first = try Inventory(
            parsing: Array(#"{"format":"ykit-inventory","formatVersion":1,"key":{"name":"x"},"time":1}"#.utf8))
        expect(first.kinds.count, is: 8)
    }

    @Test func coverage() {
        let (one, two) = (Inventory.Item(.luks, "1", name: "1"), Inventory.Item(.luks, "2", name: "2"))
        let whole = InventoryComparison(of: inventory([one]), with: inventory([one, two]))
        #expect(whole.isCovered && whole.additional == [two])
        let less = InventoryComparison(of: inventory([one, two]), with: inventory([one]))
        #expect(!less.isCovered && less.additional.isEmpty)
        let gap = Inventory.Gap(.luks, .unknown)
        let unread = InventoryComparison(of: inventory([one], [gap]), with: inventory([one, two]))
        #expect(!unread.isCovered && unread.unread == [gap] && unread.additional.isEmpty)
    }
}
