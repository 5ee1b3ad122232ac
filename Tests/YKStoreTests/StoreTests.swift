// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKCrypto
import YKFIDO
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

@testable import YKStore

struct StoreTests {
    private let random = SystemRandom()

    private func sealed() throws -> (SealedStore, StoreKey) {
        let key = try StoreKey(random)
        var store = SealedStore(service: "test")
        store.add(try StoreSeal.passphrase(key, Secret(utf8: "right"), name: "p", added: 5, random))
        store.put(try key.seal(Secret(utf8: "one"), id: "1", service: "test", ["n": 1]))
        store.put(try key.seal(Secret(utf8: "two"), id: "2", service: "test", ["n": 2]))
        return (store, key)
    }

    private func parse(_ json: JSONValue) throws -> SealedStore {
        try SealedStore(parsing: Array(json.text.utf8), service: "test", path: "p")
    }

    @Test func opensWithThePassphraseOnly() throws {
        let (store, _) = try sealed()
        let again = try parse(store.json)
        expect(again, is: store)
        let seal = try #require(again.seals.first)
        #expect(seal.kind == "passphrase" && seal.isSoftware && seal.slot == nil)
        let key = try seal.open(passphrase: Secret(utf8: "right"))
        #expect(try key.open(again.records[1], service: "test").value == Secret(utf8: "two"))
        #expect(throws: StoreError.wrongPassphrase) { _ = try seal.open(passphrase: Secret(utf8: "wrong")) }
    }

    @Test func refusesChangedRecords() throws {
        let (store, key) = try sealed()
        let record = store.records[0]
        let (id, description, bytes) = (record.id, record.description, record.sealed)
        for place in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[place] ^= 1 << UInt8(bit)
                let other = StoreRecord(id: id, description: description, sealed: changed)
                #expect(throws: StoreError.recordChanged(id)) { _ = try key.open(other, service: "test") }
            }
        }
        for other in [
            StoreRecord(id: "2", description: description, sealed: bytes),
            StoreRecord(id: id, description: ["n": 2], sealed: bytes),
            StoreRecord(id: id, description: description, sealed: store.records[1].sealed),
        ] {
            #expect(throws: StoreError.recordChanged(other.id)) { _ = try key.open(other, service: "test") }
        }
        #expect(throws: StoreError.recordChanged(id)) { _ = try key.open(record, service: "other") }
    }

    @Test func refusesOtherFiles() throws {
        let (store, _) = try sealed()
        let good = store.json
        func changed(_ name: String, _ value: JSONValue?) throws -> JSONValue {
            var object = try #require(good.object)
            object[name] = value
            return .object(object)
        }
        for (name, value) in [
            ("ykit-store", nil), ("ykit-store", "1"), ("service", "other"), ("keys", nil), ("records", 1),
            ("settings", nil), ("keys", [1]), ("records", [["id": "1"]]),
            ("records", .array([store.records[0].json, store.records[0].json])),
            ("keys", .array([store.seals[0].json, store.seals[0].json])),
        ] as [(String, JSONValue?)] {
            #expect(throws: StoreError.self, "\(name)") { _ = try parse(try changed(name, value)) }
        }
        #expect(throws: StoreError.laterVersion(path: "p", 2)) { _ = try parse(try changed("ykit-store", 2)) }
        #expect(throws: StoreError.self) { _ = try SealedStore(parsing: [0x7B], service: "test", path: "p") }
    }

    @Test func keepsTheLastKey() throws {
        var (store, key) = try sealed()
        #expect(throws: StoreError.lastKey) { _ = try store.removeSeal("p") }
        store.add(try StoreSeal.passphrase(key, Secret(utf8: "other"), name: "q", added: 6, random))
        #expect(throws: StoreError.noSuchKey("x")) { _ = try store.removeSeal("x") }
        try expect(store.removeSeal("p").name, is: "p")
        store.remove("1")
        expect(store.records.map(\.id), is: ["2"])
        store.clear()
        #expect(store.seals.isEmpty && store.records.isEmpty)
    }

    @Test func writesWholeFilesUnderALock() throws {
        let folder = NSTemporaryDirectory() + "ykstore-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = StoreFile(folder + "/s.json", service: "test", patience: .milliseconds(20))
        try expect(file.read(), is: SealedStore(service: "test"))
        let (store, _) = try sealed()
        try file.update { current throws(StoreError) in current = store }
        #expect(try file.read() == store && !file.isExposed)
        // A failing change changes nothing.
        #expect(throws: StoreError.noKeys) {
            try file.update { current throws(StoreError) in
                current.clear()
                throw StoreError.noKeys
            }
        }
        try expect(file.read(), is: store)
        // What another program left half-written is not the store.
        _ = FileManager.default.createFile(atPath: folder + "/s.json.new-1-0", contents: Data("{".utf8))
        try expect(file.read(), is: store)
        let lock = open(folder + "/s.json.lock", O_RDWR)
        expect(flock(lock, LOCK_EX), is: 0)
        #expect(throws: StoreError.file(.inUse(path: file.path))) { try file.update { _ throws(StoreError) in } }
        close(lock)
        chmod(file.path, 0o644)
        #expect(file.isExposed)
        let missing = StoreFile(folder + "/no/s.json", service: "test")
        #expect(throws: StoreError.self) { try missing.update { $0.settings["a"] = 1 } }
        try Data("junk".utf8).write(to: URL(fileURLWithPath: file.path))
        #expect(throws: StoreError.self) { _ = try file.read() }
        #expect(throws: StoreError.self) { _ = try StoreFile(folder, service: "test").read() }
    }

    @Test func readsSealsOfEveryKind() throws {
        let key = try StoreKey(random)
        let kinds: [StoreSeal.Means] = [
            .fido(credential: [1], salt: [UInt8](repeating: 2, count: 32), isVerified: true, isDiscoverable: false),
            .pivRSA(slot: 0x9D, publicKey: [1], message: [2]), .pivECDH(slot: 0x82, publicKey: [1], ephemeral: [4]),
            .passphrase(salt: [1], cost: 2, blockSize: 8, parallelism: 1),
            .secretService(item: "00112233445566778899aabbccddeeff"),
        ]
        for means in kinds {
            let seal = try StoreSeal(key, under: Secret(utf8: "s"), means, name: "n", added: 1, random)
            expect(StoreSeal(seal.json), is: seal)
            #expect(throws: StoreError.self) { _ = try seal.open(Secret(utf8: "t")) }
            _ = try seal.open(Secret(utf8: "s"))
            guard let members = means.json.object?.members else { continue }
            for member in members {
                var object = try #require(means.json.object)
                object[member.key] = nil
                expect(StoreSeal.Means(.object(object)), is: nil)
            }
        }
        expect(StoreSeal.Means(["kind": "other"]), is: nil)
        expect(StoreSeal.Means(["kind": "secret-service", "item": "x"]), is: nil)
    }

    @Test func opensWithTheSecretOfTheKeyring() throws {
        let key = try StoreKey(random)
        let made = try StoreSeal.secretService(key, name: "ring", added: 1, random)
        #expect(made.seal.isSoftware && made.seal.kind == "secret-service" && made.seal.item?.utf8.count == 32)
        let record = try key.seal(Secret(utf8: "one"), id: "1", service: "test", [:])
        #expect(try made.seal.open(made.secret.value).open(record, service: "test").value == Secret(utf8: "one"))
        #expect(throws: StoreError.notOpened) { _ = try made.seal.open(Secret([UInt8](repeating: 0, count: 32))) }
        #expect(throws: StoreError.notThisKey) { _ = try made.seal.open(passphrase: Secret(utf8: "p")) }
    }

    /// A file can ask for more work or memory than scrypt has, which is an error and not a wait.
    @Test func refusesCostsThatScryptDoesNotHave() throws {
        let key = try StoreKey(random)
        for (cost, block, parallel) in [
            (3, 8, 1), (0, 8, 1), (1 << 40, 8, 1), (16, -1, 1), (16, 8, 0), (1 << 30, 1 << 20, 1),
        ] {
            let means = StoreSeal.Means.passphrase(salt: [1], cost: cost, blockSize: block, parallelism: parallel)
            let seal = try StoreSeal(key, under: Secret(utf8: "s"), means, name: "n", added: 1, random)
            let error = #expect(throws: StoreError.self) { _ = try seal.open(passphrase: Secret(utf8: "p")) }
            guard case .crypto? = error else {
                Issue.record("\(cost) \(block) \(parallel): \(String(describing: error))")
                continue
            }
        }
    }

    /// Each bit of a file is checked, by its form or by an authentication code, except in the settings.
    @Test func refusesEachFlippedBitOfAFile() throws {
        let key = try StoreKey(random)
        var store = SealedStore(service: "test")
        let means = StoreSeal.Means.fido(
            credential: [1, 2], salt: [UInt8](repeating: 2, count: 32), isVerified: true, isDiscoverable: false)
        store.add(try StoreSeal(key, under: Secret(utf8: "s"), means, name: "n", added: 1, random))
        for id in ["1", "2"] { store.put(try key.seal(Secret(utf8: "seed"), id: id, service: "test", ["n": 1])) }
        let bytes = Array(store.json.text.utf8)
        for place in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[place] ^= 1 << UInt8(bit)
                guard let read = try? SealedStore(parsing: changed, service: "test", path: "p") else { continue }
                // A base64 digit of the other alphabet, or a setting.
                if read.seals == store.seals, read.records == store.records { continue }
                let isOpen =
                    read.seals.count == 1 && read.records.count == 2
                    && (try? read.seals[0].open(Secret(utf8: "s"))) != nil
                    && read.records.allSatisfy { (try? key.open($0, service: "test")) != nil }
                #expect(!isOpen, "byte \(place), bit \(bit)")
            }
        }
    }

    @Test func refusesFilesThatAreNoFiles() throws {
        let folder = NSTemporaryDirectory() + "ykstore-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        func error(_ path: String) -> StoreError? {
            do {
                _ = try StoreFile(path, service: "test").read()
                return nil
            } catch { return error }
        }
        guard case .file(.unreadable)? = error(folder),
            case .file(.unreadable)? = error(folder + "/\(String(repeating: "x", count: 300))")
        else {
            Issue.record("a folder or a name too long")
            return
        }
        let large = folder + "/large.json"
        _ = FileManager.default.createFile(atPath: large, contents: nil)
        truncate(large, 65 << 20)
        expect(error(large), is: .file(.tooLarge(path: large, limit: 64 << 20)))
        // The lock is not followed to another place, and a folder in the store's place is not replaced.
        symlink(folder + "/elsewhere", folder + "/s.json.lock")
        #expect(throws: StoreError.self) {
            try StoreFile(folder + "/s.json", service: "test").update { $0.settings["a"] = 1 }
        }
        #expect(!FileManager.default.fileExists(atPath: folder + "/elsewhere"))
    }
}
