// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKFIDO
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

struct FIDOTests {
    @Test("PIN, passkeys and large blobs are the old or the new ones", arguments: FIDOOperations.all)
    func nothingIsLost(_ operation: Operation) async throws { try await operation.proveNothingIsLost() }
}

/// What FIDO does in more than one exchange.
enum FIDOOperations {
    static func open(_ link: sending any CardLink, pin: String? = nil) async throws -> FIDOService {
        try await .open(card: channel(link), interaction: FIDOInteraction(pin: { _ in pin.map { secret($0) } }))
    }

    static func setPIN(_ key: VirtualKey) async throws { try await open(key.link()).setPIN(secret("12345")) }

    /// Which of these PINs is right; `nil` stands for none.
    static func pin(_ key: VirtualKey, _ pins: [String?]) async throws -> String? {
        let isSet = try await open(key.link()).info().option(.clientPin) == true
        guard isSet else {
            try require(pins.contains(nil), "the PIN, which is not set")
            return nil
        }
        for text in pins.compactMap({ $0 }) {
            do {
                try await open(key.link()).verifyPIN(secret(text))
                return text
            } catch FIDOError.wrongPIN {}
        }
        throw Lost("the PIN")
    }

    static let hash = [UInt8](repeating: 0x5A, count: 32)

    static func register(_ link: sending any CardLink) async throws {
        var request = RegistrationRequest(
            clientDataHash: hash, relyingParty: RelyingParty(id: "example.com"), user: FIDOUser(id: [1], name: "alice"))
        request.isResident = true
        request.extensions.createsLargeBlobKey = true
        _ = try await open(link, pin: "12345").register(request)
    }

    static func passkeys(_ link: sending any CardLink) async throws -> [StoredCredential] {
        try await passkeys(of: open(link, pin: "12345"))
    }

    static func passkeys(of service: FIDOService) async throws -> [StoredCredential] {
        var all: [StoredCredential] = []
        for party in try await service.relyingParties() { all += try await service.credentials(of: party) }
        return all
    }

    static func blobKey(_ service: FIDOService) async throws -> SharedSecret {
        guard let bytes = try await passkeys(of: service).first?.largeBlobKey else { throw Lost("the large-blob key") }
        return SharedSecret(Secret(bytes))
    }

    static let one = [UInt8](repeating: 1, count: 10)
    /// Does not fit into one message, nor become smaller.
    static let two: [UInt8] = ScatteredRandom().draw(1800, secret: false)

    static func blob(_ key: VirtualKey) async throws -> [UInt8]? {
        let service = try await open(key.link(), pin: "12345")
        return try await service.largeBlob(key: blobKey(service))
    }

    /// Writes a large blob over a link that may be cut.
    static func setBlob(_ blob: [UInt8], _ link: sending any CardLink) async throws {
        let service = try await open(link, pin: "12345")
        try await service.setLargeBlob(blob, key: blobKey(service))
    }

    static let all: [Operation] = [
        Operation(
            name: "set the PIN", cuts: Cut.fido, run: { try await open($0).setPIN(secret("12345")) },
            holds: { _ = try await pin($0, ["12345", nil]) },
            again: { key in if try await pin(key, ["12345", nil]) == nil { try await setPIN(key) } },
            isDone: { _ = try await pin($0, ["12345"]) }),
        Operation(
            name: "change the PIN", cuts: Cut.fido, prepare: { try await setPIN($0) },
            run: { try await open($0).changePIN(from: secret("12345"), to: secret("54321")) },
            holds: { _ = try await pin($0, ["54321", "12345"]) },
            again: { key in
                guard try await pin(key, ["54321", "12345"]) == "12345" else { return }
                try await open(key.link()).changePIN(from: secret("12345"), to: secret("54321"))
            }, isDone: { _ = try await pin($0, ["54321"]) }),
        Operation(
            name: "create a passkey", cuts: Cut.fido, prepare: { try await setPIN($0) },
            run: { try await register($0) }, holds: { _ = try await pin($0, ["12345"]) },
            isDone: { try require(try await passkeys($0.link()).count == 1, "one passkey for the account") }),
        Operation(
            name: "rename a passkey", cuts: Cut.fido,
            prepare: { key in
                try await setPIN(key)
                try await register(key.link())
            },
            run: { link in
                let service = try await open(link, pin: "12345")
                for credential in try await passkeys(of: service) {
                    try await service.update(credential.id, user: FIDOUser(id: [1], name: "bob"))
                }
            },
            holds: { key in
                let names = try await passkeys(key.link()).map(\.user.name)
                try require(names == ["alice"] || names == ["bob"], "the passkey: \(names)")
            }, isDone: { try require(try await passkeys($0.link()).first?.user.name == "bob", "the new name") }),
        Operation(
            name: "replace a large blob", cuts: Cut.fido,
            prepare: { key in
                try await setPIN(key)
                try await register(key.link())
                try await setBlob(one, key.link())
            }, run: { try await setBlob(two, $0) },
            holds: { key in
                let blob = try await blob(key)
                try require(blob == one || blob == two, "the large blob")
            }, isDone: { try require(try await blob($0) == two, "the new large blob") }),
        Operation(
            name: "require longer PINs", cuts: Cut.fido, prepare: { try await setPIN($0) },
            run: { link in
                let service = try await open(link, pin: "12345")
                guard try await service.info().minPINLength < 5 else { return }
                var rules = AuthenticatorConfig.PINRules()
                rules.minLength = 5
                try await service.configure(.pinRules(rules))
            }, holds: { _ = try await pin($0, ["12345"]) },
            isDone: { try require(try await open($0.link()).info().minPINLength == 5, "the new length") }),
    ]
}
