// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKCrypto
import YKHTTP
import YKSecurID
import YKStore
import YKTransport

/// The options for provisioning a token from a CT-KIP server.
struct CTKIPOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Read the activation code from this open file descriptor.", valueName: "n"))
    var codeFd: Int32?

    @Flag(help: "Read the activation code from standard input, one line.")
    var codeStdin = false

    @OptionGroup var server: ServerTrustOptions

    /// Fetches a token; the store's key is not used until the server has answered.
    func fetch(
        _ input: SecurIDInput?, _ address: String?, _ store: SealedStore, _ world: World
    ) async throws
        -> SecurIDToken
    {
        let url: HTTPURL
        var code: ActivationCode?
        if case .ctkip(let link)? = input {
            (url, code) = (link.url, link.code)
        } else {
            url = try HTTPURL(address ?? "")
        }
        if codeFd != nil || codeStdin || code == nil { code = try read(world) }
        guard let code else { throw SecurIDError.activationCode }
        if world.plan != nil {
            throw Explanation.usage("--plan cannot ask the server, which accepts the activation code only once")
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
        let source = SecretInput.Source(
            isStandardInput: codeStdin, descriptor: codeFd, variable: "YKIT_ACTIVATION_CODE",
            hint: "give it with --code-stdin, --code-fd N or YKIT_ACTIVATION_CODE")
        let secret: Secret
        switch try SecretInput.given(source, world.terminal) {
        case .secret(let given): secret = given
        case .none: secret = try Prompt(orElse: source.hint).secret("activation code")
        }
        var bytes = secret.copyBytes()
        defer { Secret.wipe(&bytes) }
        return try ActivationCode(String(decoding: bytes, as: UTF8.self))
    }
}
