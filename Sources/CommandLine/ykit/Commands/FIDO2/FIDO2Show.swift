// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO
import YKTransport
import YKWire

/// Shows what the FIDO application reports about itself.
struct FIDO2Show: Verb {
    static let about = About(
        "info", "Show the FIDO capabilities of the key and the state of its PIN.",
        discussion: """
            Needs neither PIN nor touch. The members of the JSON answer are named as in authenticatorGetInfo.

            Keys of CTAP 2.3 reveal their identifier, and a value that changes with their credentials, only to the \
            holder of a persistent token. --save-token asks for the PIN and stores such a token; --token uses it.
            """,
        members: ["link", "device", "ctap2", "u2f"] + AuthenticatorReport.names + [
            "pinRetries", "uvRetries", "identifier", "credentialStoreState", "token",
        ])

    @OptionGroup var token: TokenOptions

    @Option(
        help: ArgumentHelp(
            "Request a persistent token and store it in this new file; requires the PIN.", valueName: "file"),
        completion: .file)
    var saveToken: String?

    @OptionGroup
    var replacing: OutputOptions

    @OptionGroup var pin: PINOptions

    func check() throws {
        if saveToken != nil, token.token != nil { throw UsageError("--token and --save-token exclude each other") }
    }

    func answer(in world: World) async throws -> Answer {
        let output = try saveToken.map { path in
            try FileOutput(path, isText: true, isSecret: true, force: replacing.force, world)
        }
        let service =
            try await
            (saveToken == nil
            ? world.openFIDO() : world.openFIDO(pin, for: "issue a persistent token"))
        let profile = await service.profile
        var answer = Answer()
        answer.members["link"] = profile.carrier == .hid ? "hid" : "card"
        answer.members["device"] = profile.deviceVersion.map { .string($0.description) }
        answer.members["u2f"] = .bool(profile.hasU2F)
        guard await service.hasCTAP2 else {
            if saveToken != nil || token.token != nil { throw FIDOError.unsupported("perCredMgmtRO") }
            answer.members["ctap2"] = false
            answer.lines = ["this key supports only U2F: ykit u2f --help"]
            return answer
        }
        let report = AuthenticatorReport(
            info: try await service.info(), profile: profile, pin: try await Self.retries(service),
            uv: try await Self.uvRetries(service))
        answer.members["ctap2"] = true
        for (name, value) in report.members { answer.members[name] = value }
        answer.lines = report.lines
        if let saveToken, let output {
            let issued = try await service.persistentToken()
            try output.put(TokenFile.bytes(of: issued), &answer)
            answer.members["token"] = .string(saveToken)
            try await reveal(issued, service, &answer)
        } else if let issued = try await token.use(with: service, world) {
            try await reveal(issued, service, &answer)
        }
        return answer
    }

    /// Adds what the key reveals only to the holder of a persistent token.
    private func reveal(_ token: FIDOToken, _ service: FIDOService, _ answer: inout Answer) async throws {
        let info = try await service.freshInfo()
        let values = [
            ("identifier", "identifier", info.identifier(for: token)),
            ("credentialStoreState", "credential state", info.credentialStoreState(for: token)),
        ]
        answer.lines += [""] + Table.lines(values.map { [$0.1, $0.2.map { Hex.encode($0) } ?? "not reported"] })
        for (name, _, value) in values { answer.members[name] = value.map { .string(Base64.encodeURL($0)) } }
    }

    private static func retries(_ service: FIDOService) async throws -> PINRetries? {
        guard try await service.info().hasPIN else { return nil }
        do { return try await service.pinRetries() } catch FIDOError.ctap(.link(let error)) {
            // A recording of another tool may lack this command.
            guard case .replay? = error.link else { throw FIDOError.ctap(.link(error)) }
            return nil
        }
    }

    private static func uvRetries(_ service: FIDOService) async throws -> Int? {
        guard try await service.info().hasBuiltInUV else { return nil }
        return try? await service.uvRetries()
    }
}
