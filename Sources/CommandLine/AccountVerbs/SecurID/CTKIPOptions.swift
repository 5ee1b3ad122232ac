// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKCTKIP
import YKCrypto
import YKHTTP
import YKSecurID
import YKTransport

enum ActivationSecret: SecretKind {
    static let name = SecretName("code", "activation code", "YKIT_ACTIVATION_CODE")
}

/// The options for provisioning a token from a CT-KIP server.
struct CTKIPOptions: ParsableArguments {
    @OptionGroup var code: SecretOptions<ActivationSecret>

    @OptionGroup var server: ServerTrustOptions

    /// Fetches a token; the store's key is not used until the server has answered.
    func fetch(
        _ input: SecurIDInput?, _ address: String?, _ world: World
    ) async throws -> SecurIDToken {
        let link: CTKIPLink? = if case .ctkip(let link)? = input { link } else { nil }
        let url = try HTTPURL(link?.server ?? address ?? "")
        var code = link?.code
        if self.code.isGiven || code == nil { code = try read(world) }
        guard let code else { throw SecurIDError.activationCode }
        if world.plan != nil {
            throw Explanation.usage("--plan cannot contact the server, which accepts the activation code only once")
        }
        let trust = try server.trust(world, risk: "read the activation code")
        var client = CTKIPClient(try world.http(), world.environment.random)
        client.trust = trust
        client.timeout = world.environment.timeout
        let progress = Progress(world.terminal, "waiting for the server")
        defer { progress.end() }
        return try await client.token(from: url, code)
    }

    private func read(_ world: World) throws -> ActivationCode {
        let secret = try code.source.read(world.terminal, asking: "activation code")
        var bytes = secret.copyBytes()
        defer { Secret.wipe(&bytes) }
        return try ActivationCode(String(decoding: bytes, as: UTF8.self))
    }
}
