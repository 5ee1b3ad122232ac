// SPDX-License-Identifier: Apache-2.0

import YKit

/// Registers a passkey with user verification: the PIN is asked for on the main actor, as a window would.
///
/// The key's service waits for the answer, and no other caller gets onto the key in between; no thread of Swift's pool
/// is blocked.
@main
struct PINDialog {
    static func main() async throws {
        let isVirtual = CommandLine.arguments.contains("--virtual")
        let key = try await (isVirtual ? KeyRing(source: .virtual(.demonstration())) : KeyRing()).only()
        let dialog = Dialog()
        let fido = try await key.open(
            FIDOService.self,
            interaction: FIDOInteraction(
                pin: { request in await dialog.askForPIN(request) }, touch: { await dialog.askForTouch() }))
        if isVirtual { try await fido.setPIN(SharedSecret(Secret(utf8: "123456"))) }

        let client = WebAuthnClient(service: fido, origin: try Origin("https://example.com"))
        var options = PublicKeyCredentialCreationOptions(
            rpName: "Example", user: FIDOUser(id: [1, 2, 3, 4], name: "alice"),
            challenge: SystemRandom().draw(32, secret: false))
        options.selection.userVerification = .required
        let made = try await client.create(options)
        print("registered credential \(Base64.encodeURL(made.id))")
        await fido.close()
    }
}

/// The user interface: here a line on standard input.
@MainActor
final class Dialog {
    nonisolated init() {}

    func askForPIN(_ request: PINRequest) -> SharedSecret? {
        if let retries = request.retries { print("\(retries.count) tries left") }
        print("PIN:")
        guard let line = readLine(), !line.isEmpty else { return nil }
        return SharedSecret(Secret(utf8: line))
    }

    func askForTouch() { print("touch the key") }
}
