// SPDX-License-Identifier: Apache-2.0

import YKit

/// A browser that uses U2F, the protocol before FIDO2 (FIDO U2F JavaScript API 1.2).
struct U2FBrowser {
    let fido: FIDOService
    let origin = "https://example.com"

    func register(_ challenge: [UInt8]) async throws -> (clientData: [UInt8], U2FRegistration) {
        let data = clientData("navigator.id.finishEnrollment", challenge)
        let made = try await fido.u2fRegister(
            challengeHash: HashAlgorithm.sha256.hash(data), applicationHash: HashAlgorithm.sha256.hash(origin.utf8))
        return (data, made)
    }

    func sign(_ challenge: [UInt8], _ keyHandle: [UInt8]) async throws -> (clientData: [UInt8], U2FSignature) {
        let data = clientData("navigator.id.getAssertion", challenge)
        let signature = try await fido.u2fAuthenticate(
            challengeHash: HashAlgorithm.sha256.hash(data), applicationHash: HashAlgorithm.sha256.hash(origin.utf8),
            keyHandle: keyHandle)
        return (data, signature)
    }

    private func clientData(_ type: String, _ challenge: [UInt8]) -> [UInt8] {
        let data: JSONValue = [
            "typ": .string(type), "challenge": .string(Base64.encodeURL(challenge)), "origin": .string(origin),
        ]
        return Array(data.text.utf8)
    }
}

/// A server's accounts and their U2F keys, in memory.
actor U2FServer {
    enum Refusal: Error {
        case unknownUser, otherClientData, clonedKey
    }

    private struct Account {
        let keyHandle: [UInt8]
        let publicKey: COSEKey
        var counter: UInt32 = 0
    }

    private let appID = "https://example.com"
    private var accounts: [String: Account] = [:]
    private var challenges: [String: [UInt8]] = [:]

    func begin(_ name: String) -> [UInt8] {
        let challenge = SystemRandom().draw(32, secret: false)
        challenges[name] = challenge
        return challenge
    }

    func finishRegistration(of name: String, _ clientData: [UInt8], _ made: U2FRegistration) throws {
        try check(clientData, "navigator.id.finishEnrollment", name)
        try made.verify(
            challengeHash: HashAlgorithm.sha256.hash(clientData), applicationHash: HashAlgorithm.sha256.hash(appID.utf8)
        )
        accounts[name] = Account(keyHandle: made.keyHandle, publicKey: made.coseKey)
    }

    func keyHandle(of name: String) throws -> [UInt8] {
        guard let account = accounts[name] else { throw Refusal.unknownUser }
        return account.keyHandle
    }

    func finishSignIn(of name: String, _ clientData: [UInt8], _ signature: U2FSignature) throws -> UInt32 {
        guard var account = accounts[name] else { throw Refusal.unknownUser }
        try check(clientData, "navigator.id.getAssertion", name)
        try signature.verify(
            challengeHash: HashAlgorithm.sha256.hash(clientData),
            applicationHash: HashAlgorithm.sha256.hash(appID.utf8),
            publicKey: account.publicKey)
        guard signature.counter > account.counter else { throw Refusal.clonedKey }
        account.counter = signature.counter
        accounts[name] = account
        return signature.counter
    }

    private func check(_ clientData: [UInt8], _ type: String, _ name: String) throws {
        let data = try JSONValue(parsing: clientData)
        guard let challenge = challenges.removeValue(forKey: name), data["typ"]?.string == type,
            data["challenge"]?.string == Base64.encodeURL(challenge), data["origin"]?.string == appID
        else { throw Refusal.otherClientData }
    }
}
