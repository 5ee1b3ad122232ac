// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKCrypto
import YKTestSupport
import YKWire

@testable import YKSecurID

/// A published token and what stoken and python-securid make of it.
struct Vector: Decodable, Sendable, CustomTestStringConvertible {
    struct Expectation: Decodable, Sendable {
        let serial, seedHex, expirationDate: String
        let digits, interval: Int
        let pinFolded: Bool
    }
    struct Code: Decodable, Sendable {
        let time: Int64
        let pin: String?
        let tokencode, next: String
        let secondsLeft: Int
    }
    private struct File: Decodable {
        let vectors: [Vector]
    }
    let id, name, input: String
    let password, devid, expectError: String?
    let expect: Expectation?
    let codes: [Code]?

    var testDescription: String { "\(id) \(name)" }

    var keys: SecurIDKeys {
        SecurIDKeys(
            password: password.map { SharedSecret(Secret(utf8: $0)) }, deviceIDs: [devid].compactMap { $0 })
    }

    static let all: [Vector] = {
        guard let url = Bundle.module.url(forResource: "vectors/securid", withExtension: "json"),
            let data = try? Data(contentsOf: url)
        else { return [] }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        guard let file = try? decoder.decode(File.self, from: data) else { return [] }
        return file.vectors
    }()
    static let good = all.filter { $0.expect != nil }
    static let bad = all.filter { $0.expectError != nil }
}

struct VectorTests {
    @Test func areComplete() { #expect(Vector.good.count == 20 && Vector.bad.count == 12) }

    @Test(arguments: Vector.good) func imports(_ vector: Vector) throws {
        let wanted = try #require(vector.expect)
        let tokens = try SecurIDInput(parsing: Array(vector.input.utf8)).tokens(vector.keys)
        let token = try #require(tokens.first)
        expect(token.serial, is: wanted.serial)
        expect(Hex.encode(token.seed.value.copyBytes()), is: wanted.seedHex)
        #expect(token.digits == wanted.digits && token.interval == .seconds(wanted.interval))
        expect((token.type == .pinpad), is: wanted.pinFolded)
        expect(token.expiry?.description, is: wanted.expirationDate)
        for code in vector.codes ?? [] {
            let made: Tokencode
            if let pin = code.pin {
                made = try token.tokencode(
                    at: code.time, pin: SecurIDPIN(Secret(utf8: pin), for: token.type), allowsExpired: true)
            } else {
                made = try token.tokencode(at: code.time, allowsExpired: true)
            }
            #expect(
                made.code == code.tokencode && made.next == code.next && made.remaining == .seconds(code.secondsLeft))
        }
    }

    @Test(arguments: Vector.bad) func refuses(_ vector: Vector) throws {
        let error = #expect(throws: SecurIDError.self) {
            let tokens = try SecurIDInput(parsing: Array(vector.input.utf8)).tokens(vector.keys)
            _ = try tokens.first?.tokencode(at: 1_790_000_000)
        }
        switch (vector.expectError, try #require(error)) {
        case ("checksum", .checksum), ("format", .format), ("wrong_password", .wrongPassword),
            ("wrong_device", .wrongDevice), ("mac", .mac), ("expired", .expired):
            break
        case (let wanted, let error): Issue.record("\(wanted ?? "") expected, not \(error)")
        }
    }

    @Test(arguments: Vector.bad.filter { $0.expectError == "wrong_password" || $0.expectError == "wrong_device" })
    func tellsMissingFromWrong(_ vector: Vector) throws {
        var keys = vector.keys
        if vector.expectError == "wrong_password" { keys.password = nil } else { keys.deviceIDs = [] }
        let error = #expect(throws: SecurIDError.self) {
            _ = try SecurIDInput(parsing: Array(vector.input.utf8)).tokens(keys)
        }
        expect(error, is: (vector.expectError == "wrong_password" ? .passwordNeeded : .deviceNeeded))
    }

    /// Every character of every string is covered by a checksum, digest or authentication code.
    @Test(arguments: Vector.good.filter { ["dev-01", "dev-08", "dev-18"].contains($0.id) })
    func refusesEachChangedCharacter(_ vector: Vector) throws {
        let start = vector.input.range(of: "ctfData=")?.upperBound ?? vector.input.startIndex
        let data = String(vector.input[start...]).removingPercentEncoding ?? ""
        for place in stride(from: 0, to: data.utf8.count, by: data.utf8.count > 100 ? 7 : 1) {
            var bytes = Array(data.utf8)
            bytes[place] = bytes[place] == 0x31 ? 0x32 : 0x31
            if bytes == Array(data.utf8) { continue }
            #expect(throws: SecurIDError.self, "place \(place)") { _ = try SecurIDInput(parsing: bytes).tokens() }
        }
    }
}
