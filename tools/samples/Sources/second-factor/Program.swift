// SPDX-License-Identifier: Apache-2.0

import YKFIDO
import YKHTTP
import YKPrivacyIDEA
import YKSecondFactor
import YKit

/// Registers a key as a user's second factor and verifies the user with it: `second-factor URL ACCOUNT USER`.
///
/// ACCOUNT is an account of the privacyIDEA server that may administer USER; its password is the first line on standard
/// input, the key's PIN the next. With `--virtual`, the key is one in software and the server is in this program.
@main
struct Program {
    enum Problem: Error {
        case usage
    }

    static func main() async throws {
        let isVirtual = CommandLine.arguments.contains("--virtual")
        let words = CommandLine.arguments.dropFirst().filter { $0 != "--virtual" }
        guard words.count == 3 else { throw Problem.usage }
        let (url, account, user) = (try HTTPURL(words[0]), words[1], words[2])

        var service =
            try isVirtual
            ? SecondFactor(FakeServer(of: user, at: url.host), clock: SystemClock())
            : SecondFactor(PrivacyIDEA(url, CurlClient(), SystemRandom()), clock: SystemClock())
        try await service.logIn(account, password: Secret(utf8: answer("password of \(account)")))
        print(user, "has the factor", try await service.status(of: user).state)

        let key = try await (isVirtual ? KeyRing(source: .virtual(.demonstration())) : KeyRing()).only()
        let fido = try await key.open(
            FIDOService.self,
            interaction: FIDOInteraction(
                pin: { _ in SharedSecret(Secret(utf8: isVirtual ? "123456" : answer("PIN"))) },
                touch: { print("touch the key") }))
        if isVirtual { try await fido.setPIN(SharedSecret(Secret(utf8: "123456"))) }
        try await register(WebAuthnClient(service: fido, origin: try Origin(url.origin)), user, service)
        await fido.close()
    }

    private static func register(_ client: WebAuthnClient, _ user: String, _ service: SecondFactor) async throws {
        let factor = try await service.registerKey(user, client, device: "sample", requiresPIN: false)
        print("registered \(factor.description) as \(factor.serial)")
        let verified = try await service.verifyKey(user, client)
        print(user, "verified with", verified.serial)
        print(user, "has the factor", try await service.status(of: user).state)
    }

    @Sendable private static func answer(_ question: String) -> String {
        print("\(question):")
        return readLine() ?? ""
    }
}
