// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKApproval
import YKArculus
import YKCapture
import YKCrypto
import YKFIDO
import YKHTTP
import YKHardware
import YKManagement
import YKNFC
import YKOATH
import YKOTP
import YKPIV
import YKRelyingParty
import YKToken
import YKTransport
import YKVirtualKey
import YKWire
import YKit

/// The pieces of Swift in README and the articles. Those that need a device are compiled only.
@Suite struct SnippetTests {
    func readme() async throws {
        let key = try await KeyRing.only()
        let oath = try await key.open(OATHService.self)
        for entry in try await oath.codes() {
            print(entry.account.id, entry.outcome)
        }
    }

    func concepts() async throws {
        let link = try PCSC.connect(reader: "Yubico", deadline: .after(.seconds(5)))
        let oath = try await OATHService.open(CardChannel(link: link))
        for entry in try await oath.codes() {
            print(entry.account.id, entry.outcome)
        }
    }

    @Test func keysWithoutAKey() async throws {
        let bytes = try Recording.named("oath/canokey-short")

        let virtual = KeyRing(source: .virtual(.demonstration()))
        let recorded = KeyRing(source: .recording(CaptureReplay(try Capture(parsing: bytes))))

        #expect(try await virtual.only().open(OATHService.self).codes().count == 7)
        #expect(try await recorded.only().attached?.reader != nil)
    }

    @Test func virtualKey() async throws {
        let key = VirtualKey.demonstration()
        let oath = try await OATHService.open(CardChannel(link: key.link()))

        #expect(try await oath.accounts().count == 7)
    }

    func oath(_ link: sending any CardLink, _ password: borrowing Secret) async throws {
        let oath = try await OATHService.open(CardChannel(link: link))
        if await oath.info.isLocked {
            try await oath.unlock(with: AccessKey(password: password, salt: oath.info.salt))
        }
        for entry in try await oath.codes() {
            print(entry.account.id, entry.code?.text ?? "no code")
        }
    }

    func fido(_ json: [UInt8], _ askForPIN: @escaping @Sendable (Int?) -> SharedSecret?) async throws {
        let service = try await FIDOService.open(
            hid: HIDRaw.open("/dev/hidraw0", deadline: .after(.seconds(5))),
            interaction: FIDOInteraction(pin: { request in askForPIN(request.retries?.count) }))
        let client = WebAuthnClient(service: service, origin: try Origin("https://example.com"))
        let made = try await client.create(PublicKeyCredentialCreationOptions(parsing: json))
        print(made.json)
    }

    func webAuthn(
        _ device: sending any ReportLink, _ creationJSON: [UInt8], _ requestJSON: [UInt8],
        _ askForPIN: @escaping @Sendable () -> SharedSecret?, _ send: (String) -> Void
    ) async throws {
        let service = try await FIDOService.open(hid: device, interaction: FIDOInteraction(pin: { _ in askForPIN() }))
        var client = WebAuthnClient(service: service, origin: try Origin("https://login.example.com"))

        let options = try PublicKeyCredentialCreationOptions(parsing: creationJSON)
        let made = try await client.create(options)
        send(made.json.text)

        let request = try PublicKeyCredentialRequestOptions(parsing: requestJSON)
        let signed = try await client.get(request) { accounts in
            accounts.firstIndex { $0.response.user?.name == "alice" }
        }
        send(signed.json.text)

        client.extensions.append(Mirror())
    }

    func relyingParty(
        _ user: FIDOUser, _ known: [CredentialRecord], _ session: String, _ token: String, _ answer: [UInt8],
        _ database: some CredentialDatabase, _ send: (String, String) -> Void
    ) async throws {
        var party = try WebAuthnRelyingParty(
            id: "example.com", name: "Example", origins: ["https://login.example.com"], ceremonies: MemoryCeremonies())
        party.attestation = .indirect

        let begun = try await party.beginRegistration(of: user, session: session, excluding: known)
        send(begun.options.json.text, begun.token)

        let made = try await party.finishRegistration(answer, token: token, session: session) { id in
            try await database.credential(id) != nil
        }
        try await database.store(made.record)
    }

    protocol CredentialDatabase: Sendable {
        func credential(_ id: [UInt8]) async throws -> CredentialRecord?
        func store(_ record: CredentialRecord) async throws
    }

    struct Mirror: ClientExtension {
        func prepare(_ request: inout RegistrationRequest, _ ceremony: CreationCeremony) throws(WebAuthnError) {
            guard ceremony.keyKnows("mirror") else { return }
            request.extensions.others["mirror"] = .text(ceremony.options.extensions["mirror"]?.string ?? "")
        }
        func finish(
            _ results: inout JSONValue.Object, _ registration: Registration, _ ceremony: CreationCeremony
        ) async throws(WebAuthnError) {
            results["mirror"] = registration.extensions.all["mirror"]?.text.map(JSONValue.string)
        }
    }

    func piv(_ link: sending any CardLink, _ pin: consuming Secret, _ message: [UInt8]) async throws {
        let piv = try await PIVService.open(CardChannel(link: link))
        try await piv.verify(PIVPIN(pin))
        let signature = try await piv.sign(.message(message), .authentication)

        print(signature)
    }

    func nfc(_ link: sending any CardLink) async throws {
        let service = try await TagService.open(CardChannel(link: link))
        if let message = try await service.message(), let token = OTPToken(in: message) {
            print(token.value)
        }
    }

    func otp(_ key: consuming Secret, _ challenge: [UInt8]) async throws {
        let link = HIDOTPLink(try HIDRaw.open("/dev/hidraw0", deadline: .after(.seconds(5))))
        let service = try await OTPService.open(link)
        try await service.program(.two, .hmac(key: SharedSecret(key), needsTouch: true))
        let response = try await service.hmac(.two, challenge)

        print(response)
    }

    func management(_ link: sending any CardLink) async throws {
        let service = try await ManagementService.open(CardChannel(link: link))
        let info = try await service.deviceInfo()
        print(info.serial ?? 0, info.version, info.usb.enabled)

        var change = DeviceConfiguration()
        change.usbEnabled = info.usb.enabled.subtracting(.oath)
        let outcome = try await service.write(change)

        print(outcome)
    }

    func arculus(
        _ heldCard: @escaping () throws(ArculusError) -> sending any FIDOLink, _ pin: SharedSecret
    ) async throws {
        let card = ArculusCard { () async throws(ArculusError) in try heldCard() }
        let server = try ArculusServer("https://fido.example.com", .arculus, rpID: "example.com")
        let client = ArculusClient(server, card: card, http: try CurlClient())
        let made = try await client.registerUser("alice", displayName: "Alice", pin: try ArculusPIN(pin))

        print(made.id)
    }

    func approvals(
        _ piv: PIVService, _ slot: PIVSlot, _ account: PushAccount, _ askForPIN: @escaping @Sendable () throws -> PIVPIN
    ) async throws {
        let approver = Approver(try CurlClient(), ServiceEnvironment())
        let key = try await PIVApprovalKey(piv, slot, account.publicKey) { try await $0.verify(askForPIN()) }
        for try await request in approver.requests(of: account, key, every: .seconds(5)) {
            let receipt = try await approver.approve(request, account, key)
            print(request.title, receipt.isAccepted)
        }
    }

    @Test func listsTheAccounts() async throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Fixtures/list.jsonl")
        let replay = CaptureReplay(try Capture(parsing: Array(Data(contentsOf: file))))
        let channel = CardChannel(link: replay.link(), environment: replay.replaying(ServiceEnvironment()))
        let oath = try await OATHService.open(channel)
        #expect(try await oath.accounts().count == 7)
        try replay.finish()
    }

    @Test("what surrounds a key is public")
    func aroundAKey() async throws {
        let keys = KeyRing(source: .virtual(.demonstration()))
        let diagnosis = await keys.diagnosis()
        #expect(diagnosis.problem == nil && diagnosis.findings.contains { $0.step == .applications })
        let capabilities = await KeyRing().capabilities()
        #expect(
            KeyCapabilities.Way.allCases.contains { capabilities.offers($0) == (capabilities.obstacle(to: $0) == nil) })

        let key = try await keys.only().reinserted()
        #expect(try await !key.open(SecurityDomainService.self).keys().isEmpty)
        let ids = try await key.open(OATHService.self).accounts().map(\.id)
        guard case .one(let id) = AccountMatch("dave", in: ids) else {
            Issue.record("no account")
            return
        }
        #expect(id.name == "dave" && AccountMatch("nobody", in: ids) == .none)

        let uri = "otpauth://totp/Acme:alice?secret=GEZDGNBVGY3TQOJQ"
        let items = try ImportSource(Array(uri.utf8)).items(unlocking: { _ in nil }, password: { _ in Secret([]) })
        #expect(try items.first?.account.get().id.name == "alice")
        #expect(!QRReader.isImage(Array(uri.utf8)))

        let keyring = FileKeyring(folder: NSTemporaryDirectory() + "ykit-example-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(atPath: keyring.folder) }
        try keyring.remember(Secret(utf8: "0123456789abcdef"), for: "device")
        #expect(try keyring.holds("device"))
    }
}
