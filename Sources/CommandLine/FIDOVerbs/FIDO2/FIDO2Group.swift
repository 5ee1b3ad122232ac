// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKFIDO
import YKTransport
import YKWire

/// Commands for FIDO2.
struct FIDO2Group: ParsableCommand {
    static let about = About(
        "fido2", "FIDO2: passkeys and other credentials, PIN, fingerprints.",
        subcommands: [
            FIDO2Show.self, FIDO2Register.self, FIDO2Assert.self, FIDO2Verify.self, FIDO2Try.self, FIDO2Secret.self,
            FIDO2Credentials.self,
            FIDO2PIN.self, FIDO2Fingerprints.self, FIDO2LargeBlob.self,
            FIDO2Config.self, FIDO2Reset.self, FIDO2Select.self,
        ],
        aliases: ["fido"])
}

/// Shows what the FIDO application reports about itself.
struct FIDO2Show: Verb {
    static let about = About(
        "info", "Show the FIDO capabilities of the key and the state of its PIN.",
        discussion: """
            Needs neither PIN nor touch. The members of the JSON answer are named as in authenticatorGetInfo.

            Keys of CTAP 2.3 reveal their identifier, and a value that changes with their credentials, only to the \
            holder of a persistent token. --save-token asks for the PIN and stores such a token; --token uses it.
            """,
        members: ["link", "device", "ctap2", "u2f"] + AuthenticatorInfo.memberNames + [
            "pinRetries", "uvRetries", "identifier", "credentialStoreState", "token",
        ])

    @OptionGroup var token: TokenOptions

    @Option("--save-token <file>", help: "Request a persistent token and store it in this new file; requires the PIN.")
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
        let malformed = try await service.info().malformedMembers
        if !malformed.isEmpty {
            answer.warnings.append("the key's answer to getInfo has malformed members: \(malformed.listed())")
        }
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
        answer.lines += [""] + Table.details(values.map { [$0.1, $0.2.map { Hex.encode($0) } ?? "not reported"] })
        for (name, _, value) in values { answer.members[name] = value.map { .string(Base64.encodeURL($0)) } }
    }

    private static func retries(_ service: FIDOService) async throws -> PINRetries? {
        guard try await service.info().hasPIN else { return nil }
        return try await service.pinRetriesIfTold()
    }

    private static func uvRetries(_ service: FIDOService) async throws -> Int? {
        guard try await service.info().hasBuiltInUV else { return nil }
        return try? await service.uvRetries()
    }
}

/// Selects a key by a touch.
struct FIDO2Select: Verb {
    static let about = About(
        "select", "Select a key by touching it.",
        discussion: """
            All keys blink, and the path of the one that is touched is printed:
              ykit --path "$(ykit fido2 select)" fido2 info
            """, members: ["path"])

    func answer(in world: World) async throws -> Answer {
        let path = try await world.touchedKey()
        return Answer(path, ["path": .string(path)])
    }
}

/// Whether the key is to be taken out and inserted again, since it allows a reset only after that.
struct Reinsertion: ParsableArguments {
    @Flag(
        "--reinsert", help: "Wait until the key is unplugged and plugged in again, and check that it is the same one.")
    var reinsert = false

    /// Refuses the option for a key that cannot be taken out.
    func check(in world: World) throws {
        guard !reinsert || world.plan != nil || world.software == nil && world.replay == nil else {
            throw Explanation.usage("--reinsert is for a key that can be taken out")
        }
    }

    /// Whether to wait for it; a plan does not.
    func isWanted(in world: World) -> Bool { reinsert && world.plan == nil }
}

/// Deletes everything the FIDO application holds.
struct FIDO2Reset: Verb {
    static let about = About(
        "reset", "Delete all credentials, the PIN and the fingerprints.",
        discussion: """
            Every account that this key is registered with is lost, also U2F ones: register another key there first. \
            Most keys allow it only within some seconds after they were plugged in, and after a touch.
            """, members: ["reset"])

    @OptionGroup var confirmation: Confirmation

    @OptionGroup var reinsertion: Reinsertion

    func answer(in world: World) async throws -> Answer {
        try reinsertion.check(in: world)
        let service = try await world.openFIDO()
        guard await service.hasCTAP2 else { throw FIDOError.unsupported("FIDO2") }
        let info = try await service.info()
        let profile = await service.profile
        let transports = info.transportsForReset
        let way = profile.carrier == .hid ? ["usb"] : ["usb", "nfc", "smart-card"]
        if !transports.isEmpty, !transports.contains(where: way.contains) {
            throw Explanation(
                "not-over-this-link", .policy,
                "this key is reset only over \(transports.map(\.printable).listed())")
        }
        try confirmation.ask(
            typing: "reset", "this deletes all FIDO credentials of this key for good, and its PIN", in: world)
        if reinsertion.isWanted(in: world) {
            await service.rest()
            return try await resetInsertedAnew(info, in: world)
        }
        return try await reset(service, info, in: world)
    }

    private func reset(_ service: FIDOService, _ info: AuthenticatorInfo, in world: World) async throws -> Answer {
        let touch = info.needsLongTouchForReset == true ? "touch and hold it until it is done" : "touch it"
        world.announce("the reset of this key; when it blinks, \(touch)")
        try await service.reset()
        return Answer("all FIDO credentials are deleted, no PIN is set", ["reset": true])
    }

    /// Resets the key after it is reinserted.
    private func resetInsertedAnew(_ info: AuthenticatorInfo, in world: World) async throws -> Answer {
        try await reset(try await world.reinsertedFIDO(), info, in: world)
    }
}
