// SPDX-License-Identifier: Apache-2.0

import Testing
import YKAge
import YKApproval
import YKCrypto
import YKFIDO
import YKHTTP
import YKOATH
import YKPIV
import YKPrivacyIDEA
import YKSSH
import YKSecondFactor
import YKSecurID
import YKTransport
import YKVirtualKey
import YKit

/// The examples in the articles of single libraries. Those that need a server are compiled only.
@Suite struct LibraryTests {
    private static let token = "200522216143020723541574706600244335451106410137225201264173164624000252716762774"

    /// A card with a key in a slot, and its PIN verified.
    private static func card(_ slot: PIVSlot) async throws -> PIVService {
        let piv = try await PIVService.open(CardChannel(link: VirtualKey.demonstration().link()))
        try await piv.authenticate(with: .defaultKey())
        _ = try await piv.generateKey(slot, .p256)
        try await piv.verify(.defaultPIN())
        return piv
    }

    @Test func codesOfASecurIDToken() throws {
        let bytes = Array(Self.token.utf8)
        let clock = FixedClock(1_735_689_629)

        let input = try SecurIDInput(parsing: bytes)
        for token in try input.tokens() {
            let code = try token.tokencode(at: clock.now)
            print(token.serial, code.code, "for", code.remaining, "then", code.next)
        }

        #expect(try input.tokens().map { try $0.tokencode(at: clock.now).code } == ["56016039"])
    }

    @Test func codesOfAProtectedSecurIDToken() throws {
        let plain = try SecurIDInput(parsing: Array(Self.token.utf8)).tokens()[0]
        let password = SharedSecret(Secret(utf8: "secret"))
        let deviceID = "a01c4380fc01ce0c64a47294"
        let text = try AlphanumericCTF.text(plain, password: password, deviceID: deviceID, SystemRandom())
        let input = try SecurIDInput(parsing: text.value.copyBytes())
        let clock = FixedClock(1_735_689_629)

        let keys = SecurIDKeys(password: password, deviceIDs: [deviceID])
        for token in try input.tokens(keys) where !token.isExpired(at: clock.now) {
            let code = try token.tokencode(at: clock.now, pin: SecurIDPIN(Secret(utf8: "1234"), for: token.type))
            print(code.code)
        }

        #expect(throws: SecurIDError.deviceNeeded) { try input.tokens() }
        #expect(try input.tokens(keys).map(\.serial) == [plain.serial])
    }

    @Test func aSignatureOfAFile() async throws {
        let file = Array("a letter".utf8)
        let signature = try #require(try await sign(file, try await Self.card(.authentication)))
        let signer = "alice@example.com \(signature.publicKey.line(comment: ""))"
        try verify(Array(signature.text.utf8), Array(signer.utf8), digest: HashAlgorithm.sha512.hash(file))
    }

    private func sign(_ file: [UInt8], _ piv: PIVService) async throws -> SSHFileSignature? {
        guard let signer = SSHPublicKey(try await piv.publicKey(.authentication)) else { return nil }
        let digest = HashAlgorithm.sha512.hash(file)
        let data = SSHFileSignature.signedData(namespace: "file", hash: .sha512, digest: digest)
        let bytes = try await piv.sign(.message(data), .authentication, hash: signer.hash ?? .sha512)
        let signature = SSHFileSignature(
            publicKey: signer, namespace: "file", hash: .sha512, signature: try SSHSignature(bytes, by: signer))
        print(signature.text, signer.line(comment: "alice@example.com"))

        return signature
    }

    private func verify(_ sigFile: [UInt8], _ signersFile: [UInt8], digest: [UInt8]) throws {
        let clock = SystemClock()

        let received = try SSHFileSignature(parsing: sigFile)
        let verdict = AllowedSigners(signersFile).check(received, identity: "alice@example.com", now: clock.now)
        print(received.namespace == "file" && received.isValid(digest: digest) && verdict.isAllowed, verdict.notes)

        #expect(received.isValid(digest: digest) && verdict.isAllowed)
    }

    @Test func aFileKeyOfAge() async throws {
        let slot = PIVSlot.retired[0]
        let piv = try await Self.card(slot)
        let text = try #require(AgePublicKey(try await piv.publicKey(slot))).recipient.text()
        let fileKey = SharedSecret(Secret([UInt8](1...16)))
        let stanza = try wrapped(fileKey.value, for: text)
        let unwrapped = try #require(try await fileKeyIn(stanza, piv, slot))
        let isSame = unwrapped.value == fileKey.value
        #expect(isSame)
    }

    private func wrapped(_ fileKey: borrowing Secret, for text: String) throws -> AgeStanza {
        let recipient = try AgeRecipient(parsing: text)
        let ephemeral = Secret(SystemRandom().draw(32, secret: true))
        let stanza = try AgeWrapping(fileKey, for: recipient, ephemeral: ephemeral).stanza
        print(String(decoding: stanza.encoded, as: UTF8.self))

        return stanza
    }

    private func fileKeyIn(_ stanza: AgeStanza, _ piv: PIVService, _ slot: PIVSlot) async throws -> SharedSecret? {
        guard let publicKey = AgePublicKey(try await piv.publicKey(slot)), let wrapping = try AgeWrapping(stanza) else {
            return nil
        }
        let secret = try await piv.derive(with: try wrapping.peer(), slot)
        return try wrapping.fileKey(secret.value, of: publicKey)
    }

    func enrolment(
        _ piv: PIVService, _ text: String, _ askForPIN: @escaping @Sendable () throws -> PIVPIN,
        _ store: (ApprovalAccount) -> Void
    ) async throws {
        let approver = Approver(try CurlClient(), ServiceEnvironment())
        let slot = try await PIVApprovalKey.freeSlot(piv)
        let (place, publicKey) = try await PIVApprovalKey.make(
            piv, slot, .rsa2048, KeyPolicies(pin: .once, touch: .always))
        let key = try await PIVApprovalKey(piv, slot, publicKey) { try await $0.verify(askForPIN()) }
        let enrolment = try await approver.enroll(try PushLink(text), name: "work", key, .piv(place))
        store(enrolment.account.stored)
    }

    func secondFactor(_ password: borrowing Secret, _ key: WebAuthnClient) async throws {
        let client = PrivacyIDEA(try HTTPURL("https://login.example.com"), try CurlClient(), SystemRandom())
        var service = SecondFactor(client, clock: SystemClock())
        try await service.logIn("helpdesk", password: password)

        let factor = try await service.registerKey("alice", key, device: "blue key", requiresPIN: false)
        print(factor.serial, try await service.status(of: "alice").state)
        let verified = try await service.verifyKey("alice", key)
        print("alice has answered with", verified.serial)
    }

    func pins(_ service: SecondFactor, _ enrolmentPIN: borrowing Secret, _ pin: borrowing Secret) async throws {
        let sent = try await service.sendPIN(registering: "alice", .sms, to: "+41791234567")
        let factor = try await service.verifyPIN(enrolmentPIN, registering: "alice", sent.channel)

        let challenge = try await service.sendPIN(loggingIn: "alice")
        try await service.verifyPIN(pin, loggingIn: "alice", challenge)

        print(factor)
    }

    @Test func theAccountThatIsMeant() async throws {
        let oath = try await OATHService.open(CardChannel(link: VirtualKey.demonstration().link()))

        switch AccountMatch("alice", in: try await oath.accounts()) {
        case .one(let account): print(try await oath.code(for: account.id))
        case .several(let accounts): print("which one?", accounts)
        case .none: print("no such account")
        }

        let accounts = try await oath.accounts()
        #expect(AccountMatch("alice", in: accounts).all.map(\.id.name) == ["alice@example.com"])
        #expect(AccountMatch("e", in: accounts).all.count > 1)
        #expect(AccountMatch("nobody", in: accounts) == .none)
    }
}
