// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import Testing
import YKCrypto
import YKFIDO
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// The example of the documentation, as it is there.
struct ExampleTests {
    @Test func runs() async throws {
        let bench = try Bench()
        let answers = Mutex<[String]>([])
        func send(_ text: String) { answers.withLock { $0.append(text) } }
        @Sendable func askForPIN() -> SharedSecret? { secret("12345") }
        let creationJSON = Array(try Site.creation(["attestation": "none"]).json.text.utf8)
        let device = bench.key.reportLink()
        let service = try await FIDOService.open(hid: device, interaction: FIDOInteraction(pin: { _ in askForPIN() }))
        var client = WebAuthnClient(service: service, origin: try Origin("https://login.example.com"))

        client.extensions.append(ClientExtensionTests.Mirror())
        let options = try PublicKeyCredentialCreationOptions(parsing: creationJSON)
        let made = try await client.create(options)
        send(made.json.text)
        let requestJSON = Array(try Site.request([made.id]).json.text.utf8)

        let request = try PublicKeyCredentialRequestOptions(parsing: requestJSON)
        let signed = try await client.get(request) { accounts in
            accounts.firstIndex { $0.response.user?.name == "alice" }
        }
        send(signed.json.text)
        expect(answers.withLock { $0.count }, is: 2)
    }

    /// Each line of the documentation's first example is a line above, and the extension is the one that is tested.
    @Test func isWhatTheDocumentationSays() throws {
        func lines(_ path: String) -> [Substring] {
            Recordings.text(path).split(separator: "\n").map(Self.trimmed)
        }
        let folder = "Tests/YKFIDOTests/WebAuthn"
        let known = Set(lines("\(folder)/ExampleTests.swift") + lines("\(folder)/ClientExtensionTests.swift"))
        var isCode = false
        var count = 0
        for line in lines("Sources/Services/YKFIDO/YKFIDO.docc/WebAuthn.md") {
            if line.hasPrefix("```") {
                isCode.toggle()
            } else if isCode {
                count += 1
                #expect(known.contains(line))
            }
        }
        #expect(count > 20)
    }

    private static func trimmed(_ line: Substring) -> Substring { line.drop { $0 == " " } }
}
