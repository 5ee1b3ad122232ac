// SPDX-License-Identifier: Apache-2.0

import Applications
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
        _ input: SecurIDInput?, _ address: String?, _ run: Run
    ) async throws -> SecurIDToken {
        let link: CTKIPLink? = if case .ctkip(let link)? = input { link } else { nil }
        let url = try HTTPURL(link?.server ?? address ?? "")
        var code = link?.code
        if self.code.isGiven || code == nil { code = try read(run) }
        guard let code else { throw SecurIDError.activationCode }
        try run.refusePlan("--plan cannot contact the server, which accepts the activation code only once")
        let trust = try server.trust(run, risk: "read the activation code")
        var client = CTKIPClient(try run.http(), run.environment.random)
        client.trust = trust
        client.timeout = run.environment.timeout
        let progress = Progress(run.terminal, "waiting for the server")
        defer { progress.end() }
        return try await client.token(from: url, code)
    }

    private func read(_ run: Run) throws -> ActivationCode {
        let secret = try code.source.read(run.terminal, asking: "activation code")
        var bytes = secret.copyBytes()
        defer { Secret.wipe(&bytes) }
        return try ActivationCode(String(decoding: bytes, as: UTF8.self))
    }
}
