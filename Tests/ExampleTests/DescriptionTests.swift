// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKFIDO
import YKOATH
import YKPIV
import YKTransport
import YKVirtualKey
import YKit

/// What `print` shows of values that programs print: names and numbers, not the structure of the types.
@Suite struct DescriptionTests {
    /// Whether a value, and a list of it, is printed without names of modules, types and members.
    ///
    /// - Parameter random: Characters of the text that may be any, and are not read.
    private func readsWell(_ value: Any, except random: String = "?") -> Bool {
        ["\(value)", "\([value])"].map { $0.replacing(random, with: "") }.allSatisfy { text in
            !text.isEmpty && ["YK", "Optional(", ": [", "nil"].allSatisfy { !text.contains($0) }
        }
    }

    @Test func keys() async throws {
        let keys = KeyRing(source: .virtual(.demonstration()))
        let key = try await keys.only()
        #expect("\(key)" == "ykit virtual YubiKey" && "\([key])" == "[\(key)]")
        let identity = try await key.identity()
        #expect("\(identity)" == "YubiKey 5 NFC, 5.7.1, serial 16777217")
        let attached = AttachedKey(SecurityKey(place: .usb("1-2")), isAsked: true, details: KeyDetails(identity))
        #expect("\(attached)" == "YubiKey 5 NFC 16777217 (1-2)")
        #expect("\(KeyEvent.left(key))" == "left(\(key))")
        #expect(key.customMirror.children.map(\.label) == ["attached"])
    }

    @Test func errorsOfKeys() {
        let candidates = [
            KeyCandidate(.any, at: "1-2", name: "YubiKey 5 NFC", serial: "7"), KeyCandidate(.any, at: "/dev/hidraw0"),
        ]
        #expect("\(KeyError.several(.any, candidates))" == "several keys: YubiKey 5 NFC 7 (1-2), (/dev/hidraw0)")
        #expect("\(KeyError.notFound(serial: "8", .any, []))" == "no key with serial number 8")
        #expect("\(KeyError.none(.any, .complete))" == "no key found")
        let holder = LinkError.Holder(pid: 4711, name: "scdaemon")
        #expect(
            "\(KeyError.link(.busy(reader: "Yubico", holders: [holder])))"
                == #"busy(reader: "Yubico", holders: [scdaemon (pid 4711)])"#)
        for error in [KeyError.cardRequired, .touchRequiresHID, .differentKey, .noCard(path: "/dev/hidraw0")] {
            #expect(readsWell(error))
        }
    }

    @Test func accountsAndCodes() async throws {
        let oath = try await OATHService.open(CardChannel(link: VirtualKey.demonstration().link()))
        let entries = try await oath.codes(at: 59)
        let texts = entries.map { "\($0)" }
        #expect(texts.contains("Acme:alice@example.com 287082") && texts.contains("Careful:erin touch required"))
        #expect(texts.contains("Counter:dave not calculated: counter-based"))
        #expect(try await oath.accounts().allSatisfy { readsWell($0) && "\($0)" == $0.id.text })
        #expect(entries.compactMap(\.code).allSatisfy { "\($0)" == $0.text })
        let failed = OATHEntry(account: entries[0].account, outcome: .failed(.damaged))
        #expect("\(failed)" == "\(failed.account.id) not calculated: damaged")
    }

    @Test func slots() async throws {
        let piv = try await PIVService.open(CardChannel(link: VirtualKey.demonstration().link()))
        try await piv.authenticate(with: .defaultKey())
        _ = try await piv.generateKey(.authentication, .p256, policies: KeyPolicies(pin: .once, touch: .never))
        let metadata = try #require(try await piv.metadata(of: .authentication))
        #expect("\(metadata)" == "ecc-p256, generated, PIN once, touch never")
        #expect("\(PIVSlot.authentication)" == "9a" && readsWell(PIVSlot.retired))
        #expect("\(PIVError.noKey(.signature))" == "noKey(9c)")
    }

    @Test func credentials() async throws {
        let pin = SharedSecret(Secret(utf8: "123456"))
        let fido = try await FIDOService.open(
            hid: VirtualKey.demonstration().reportLink(), interaction: FIDOInteraction(pin: { _ in pin }))
        try await fido.setPIN(pin)
        let client = WebAuthnClient(service: fido, origin: try Origin("https://example.com"))
        var options = PublicKeyCredentialCreationOptions(
            rpName: "Example", user: FIDOUser(id: [1], name: "alice"), challenge: [UInt8](repeating: 7, count: 32))
        options.selection.residentKey = .required
        _ = try await client.create(options)
        let stored = try await fido.discoverableCredentials()
        #expect(stored.map { "\($0)" } == ["alice at example.com"])
        #expect(stored.allSatisfy { readsWell($0.credential, except: $0.id) && readsWell($0.relyingParty) })
        #expect("\(FIDOUser(id: [0, 1]))" == "AAE")
        #expect("\(PINRetries(count: 3))" == "3 tries left")
        #expect("\(FIDOError.wrongPIN(PINRetries(count: 3)))".contains("3 tries left"))
    }
}
