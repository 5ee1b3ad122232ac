// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKCrypto
import YKProtocols
import YKTestSupport
import YKTransport
import YKVirtualKey

@testable import YKSecrets

/// What the application does, on the virtual key, over the card and over HID.
struct OperationTests {
    private static let pin = secret("12345678")

    @Test("a new key has no PIN and no entries", arguments: Bench.Route.allCases)
    func info(_ route: Bench.Route) async throws {
        let service = try await Bench.open(over: route)
        let info = await service.info
        #expect(info.version == FirmwareVersion(4, 14, 0) && info.serial == [1, 2, 3, 4])
        #expect(!info.hasPIN && info.pinRetries == nil)
        #expect(try await service.entries().isEmpty)
        await expect(service.statistics.exchanges, is: 2)
        await service.rest()
        await service.close()
        await #expect(throws: SecretsError.card(.link(.closed))) { _ = try await service.entries() }
    }

    @Test("codes are those of RFC 4226 and RFC 6238", arguments: Bench.Route.allCases)
    func codes(_ route: Bench.Route) async throws {
        let service = try await Bench.open(over: route)
        try await service.add(NewSecretsEntry(name("h"), otp: SecretsOTP(.hotp, secret: vectorSecret)))
        try await service.add(NewSecretsEntry(name("t"), otp: SecretsOTP(.totp, secret: vectorSecret, digits: 8)))
        try await service.add(
            NewSecretsEntry(
                name("t256"),
                otp: SecretsOTP(
                    .totp, secret: secret("12345678901234567890123456789012"), algorithm: .sha256, digits: 8)
            ))
        for code in ["755224", "287082", "359152"] { try await expect(service.nextCode(of: name("h")), is: code) }
        try await expect(service.code(of: name("t"), at: 59), is: "94287082")
        try await expect(service.code(of: name("t256"), at: 1_111_111_109), is: "68084774")
        try await expect(service.code(of: name("t"), at: 119, period: 60), is: "94287082")
        _ = try await service.code(of: name("t"), at: -1)
        _ = try await service.code(of: name("t"))
        let list = try await service.entries()
        #expect(list.map(\.name.text) == ["h", "t", "t256"] && list.map(\.kind) == [.hotp, .totp, .totp])
        #expect(list.map(\.algorithm) == [.sha1, .sha1, .sha256] && list.map(\.needsTouch) == [false, false, false])
        await #expect(throws: SecretsError.entryExists(name("h"))) {
            try await service.add(NewSecretsEntry(name("h"), otp: SecretsOTP(.hotp, secret: vectorSecret)))
        }
    }

    @Test("an entry of the password safe is stored, read, changed and deleted", arguments: Bench.Route.allCases)
    func passwords(_ route: Bench.Route) async throws {
        let service = try await Bench.open(over: route)
        let long = String(repeating: "x", count: 127)
        let record = SecretsRecord(login: "alice", password: secret("hunter2"), metadata: secret(long))
        try await service.add(NewSecretsEntry(name(long), record: record))
        try await expect(service.entries().map(\.hasPassword), is: [true])
        var content = try await service.content(of: name(long))
        #expect(content.kind == SecretsKind.none && content.record.login == "alice")
        #expect(content.record.password?.text == "hunter2" && content.record.metadata?.text == long)
        try await service.update(
            name(long), SecretsChange(name: name("site"), record: SecretsRecord(password: secret("new"))))
        content = try await service.content(of: name("site"))
        #expect(content.record.login == "alice" && content.record.password?.text == "new")
        expect(content.record.metadata?.text, is: long)
        let nothing = SecretsRecord(login: "", password: secret(""), metadata: secret(""))
        try await service.update(name("site"), SecretsChange(record: nothing, needsTouch: true))
        content = try await service.content(of: name("site"))
        #expect(content.record.login == nil && content.record.password == nil && content.record.metadata == nil)
        let entry = try #require(try await service.entries().first)
        #expect(entry.needsTouch == true && entry.hasPassword == false)
        await #expect(throws: SecretsError.wrongKind(name("site"))) { _ = try await service.code(of: name("site")) }
        try await service.delete(name("site"))
        await #expect(throws: SecretsError.noSuchEntry(name("site"))) { try await service.delete(name("site")) }
        await #expect(throws: SecretsError.noSuchEntry(name("site"))) {
            _ = try await service.content(of: name("site"))
        }
    }

    @Test("a protected entry exists only with the PIN", arguments: Bench.Route.allCases)
    func protection(_ route: Bench.Route) async throws {
        let service = try await Bench.open(over: route)
        let entry = NewSecretsEntry(name("p"), otp: SecretsOTP(.totp, secret: vectorSecret), isProtected: true)
        await #expect(throws: SecretsError.pinRequired) { try await service.add(entry) }
        await #expect(throws: SecretsError.noPIN) { try await service.add(entry, pin: Self.pin) }
        try await service.setPIN(Self.pin)
        #expect(await service.info.hasPIN)
        await expect(service.info.pinRetries, is: 8)
        try await service.add(entry, pin: Self.pin)
        try await service.add(NewSecretsEntry(name("open"), otp: SecretsOTP(.totp, secret: vectorSecret)))
        try await expect(service.entries().map(\.name.text), is: ["open"])
        try await expect(service.entries(pin: Self.pin).map(\.isProtected), is: [true, false])
        await #expect(throws: SecretsError.noSuchEntry(name("p"))) { _ = try await service.code(of: name("p"), at: 59) }
        try await expect(service.code(of: name("p"), at: 59, pin: Self.pin), is: "287082")
        await #expect(throws: SecretsError.entryExists(name("p"))) {
            try await service.update(name("open"), SecretsChange(name: name("p")))
        }
        let change = SecretsChange(record: SecretsRecord(login: "bob"))
        try await service.update(name("p"), change, pin: Self.pin)
        try await expect(service.content(of: name("p"), pin: Self.pin).record.login, is: "bob")
        try await service.delete(name("p"), pin: Self.pin)
        try await expect(service.entries(pin: Self.pin).map(\.name.text), is: ["open"])
    }

    @Test("the key verifies the codes of another device", arguments: Bench.Route.allCases)
    func reverse(_ route: Bench.Route) async throws {
        let service = try await Bench.open(over: route)
        try await service.setPIN(Self.pin)
        let entry = NewSecretsEntry(name("laptop"), otp: SecretsOTP(.reverseHOTP, secret: vectorSecret, counter: 1))
        await #expect(throws: SecretsError.pinRequired) { try await service.add(entry) }
        try await service.add(entry, pin: Self.pin)
        try await service.verify("287082", of: name("laptop"))
        await #expect(throws: SecretsError.wrongCode) { try await service.verify("287082", of: name("laptop")) }
        try await service.verify("520489", of: name("laptop"))  // counter 9, eight ahead
        for code in ["12345", "123456789", "12345a", ""] {
            await #expect(throws: SecretsError.badCode) { try await service.verify(code, of: name("laptop")) }
        }
        await #expect(throws: SecretsError.wrongKind(name("laptop"))) {
            try await service.update(name("laptop"), SecretsChange(needsTouch: true))
        }
    }

    @Test("a wrong PIN costs a try, and none is spent when none is left", arguments: Bench.Route.allCases)
    func tries(_ route: Bench.Route) async throws {
        let key = try Bench.key()
        let service = try await Bench.open(key, over: route)
        await #expect(throws: SecretsError.noPIN) { try await service.verify(pin: Self.pin) }
        try await service.setPIN(Self.pin)
        await #expect(throws: SecretsError.pinExists) { try await service.setPIN(Self.pin) }
        for left in (1...7).reversed() {
            let error = await #expect(throws: SecretsError.self) {
                if left.isMultiple(of: 2) {
                    try await service.verify(pin: secret("wrong"))
                } else {
                    try await service.changePIN(from: secret("wrong"), to: Self.pin)
                }
            }
            #expect(error == .wrongPIN(triesLeft: left) && error?.refusedCredential?.triesLeft == left)
        }
        let last = await #expect(throws: SecretsError.self) { try await service.verify(pin: secret("wrong")) }
        #expect(last == .pinBlocked && last?.refusedCredential?.triesLeft == 0)
        let before = await service.statistics.exchanges
        await #expect(throws: SecretsError.pinBlocked) { try await service.verify(pin: Self.pin) }
        await #expect(throws: SecretsError.pinBlocked) {
            try await service.changePIN(from: Self.pin, to: secret("new"))
        }
        await expect(service.statistics.exchanges, is: before)
        try await service.reset()
        #expect(await !service.info.hasPIN)
        try await service.setPIN(Self.pin)
        try await service.changePIN(from: Self.pin, to: secret("new"))
        try await service.verify(pin: secret("new"))
    }

    @Test("what waits for a touch ends without one", arguments: Bench.Route.allCases)
    func touches(_ route: Bench.Route) async throws {
        let touch = Mutex(VirtualInputs.Touch.touched)
        let key = try Bench.key(VirtualInputs(touch: { _ in touch.withLock { $0 } }))
        let service = try await Bench.open(key, over: route)
        let entry = NewSecretsEntry(name("t"), otp: SecretsOTP(.totp, secret: vectorSecret), needsTouch: true)
        try await service.add(entry)
        try await service.setPIN(Self.pin)
        touch.withLock { $0 = .notTouched }
        let operations: [@Sendable (SecretsService) async throws -> Void] = [
            { _ = try await $0.code(of: name("t"), at: 59) }, { try await $0.delete(name("t")) },
            { try await $0.update(name("t"), SecretsChange(name: name("u"))) },
            { try await $0.verify(pin: secret("wrong")) }, { try await $0.reset() },
            { _ = try await $0.content(of: name("t")) },
        ]
        for operation in operations {
            await #expect(throws: SecretsError.touchTimeout) { try await operation(service) }
        }
        await expect(service.info.pinRetries, is: 8)
        touch.withLock { $0 = .touched }
        try await expect(service.code(of: name("t"), at: 59), is: "287082")
    }

    @Test("fifty entries are listed in parts, and there is no room for another", arguments: Bench.Route.allCases)
    func many(_ route: Bench.Route) async throws {
        let service = try await Bench.open(over: route)
        let names = (0..<50).map { name(String(repeating: "n", count: 125) + String(10 + $0)) }
        for name in names { try await service.add(NewSecretsEntry(name, otp: SecretsOTP(.totp, secret: vectorSecret))) }
        try await expect(service.entries().map(\.name), is: names)
        await #expect(throws: SecretsError.full) {
            try await service.add(NewSecretsEntry(name("one more"), otp: SecretsOTP(.totp, secret: vectorSecret)))
        }
    }

    @Test("another program's use of the card does not end the service")
    func sharing() async throws {
        let key = try Bench.key()
        let service = try await Bench.open(key)
        try await service.setPIN(Self.pin)
        await service.rest()
        let other = try await Bench.open(key)
        try await other.add(
            NewSecretsEntry(name("p"), otp: SecretsOTP(.totp, secret: vectorSecret), isProtected: true), pin: Self.pin)
        await other.rest()
        try await expect(service.code(of: name("p"), at: 59, pin: Self.pin), is: "287082")
    }

    @Test("the state is the same after it was written and read")
    func file() async throws {
        let key = try Bench.key()
        let service = try await Bench.open(key)
        try await service.setPIN(Self.pin)
        let record = SecretsRecord(login: "alice", password: secret("pw"), metadata: secret("note"))
        try await service.add(
            NewSecretsEntry(
                name("all"), otp: SecretsOTP(.hotp, secret: vectorSecret, counter: 7), record: record,
                needsTouch: true, isProtected: true), pin: Self.pin)
        try expect(VirtualKeyState(key.state.json), is: key.state)
    }
}
