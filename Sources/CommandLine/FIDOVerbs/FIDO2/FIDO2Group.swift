// SPDX-License-Identifier: Apache-2.0

import Applications
package import Arguments
import TerminalIO
import Verbs
import YKFIDO
import YKTransport
import YKWire

/// Commands for FIDO2.
package struct FIDO2Group: ParsableCommand {
    package static let about = About(
        "FIDO2: passkeys and other credentials, PIN, fingerprints.",
        subcommands: [
            "info": FIDO2Show.self, "register": FIDO2Register.self, "assert": FIDO2Assert.self,
            "verify": FIDO2Verify.self, "try": FIDO2Try.self, "secret": FIDO2Secret.self, "sign-key": FIDO2SignKey.self,
            "credentials": FIDO2Credentials.self, "pin": FIDO2PIN.self, "fingerprints": FIDO2Fingerprints.self,
            "large-blob": FIDO2LargeBlob.self, "config": FIDO2Config.self, "reset": FIDO2Reset.self,
            "select": FIDO2Select.self, "wink": FIDO2Wink.self,
        ],
        examples: [Example("ykit fido2 credentials list", "List the passkeys on the key.")])

    package init() {}
}

/// Shows what the FIDO application reports about itself.
struct FIDO2Show: Verb {
    static let about = About(
        "Show the FIDO capabilities of the key and the state of its PIN.",
        discussion: """
            Needs neither PIN nor touch. The members of the JSON answer are named as in authenticatorGetInfo.

            Keys of CTAP 2.3 reveal their identifier, and a value that changes with their credentials, only to the \
            holder of a persistent token. --save-token asks for the PIN and stores such a token; --token uses it.
            """,
        examples: [Example("ykit fido2 info")])

    @OptionGroup var token: TokenOptions

    @Option("--save-token <file>", help: "Request a persistent token and store it in this new file; requires the PIN.")
    var saveToken: String?

    @OptionGroup
    var replacing: OutputOptions

    @OptionGroup var pin: PINOptions

    func check() throws {
        if saveToken != nil, token.token != nil { throw UsageError("--token and --save-token cannot be combined") }
    }

    func run(in run: Run) async throws -> Outcome<FIDO2Report> {
        let output = try saveToken.map { path in
            try FileOutput(path, isText: true, isSecret: true, force: replacing.force, run)
        }
        let service =
            try await
            (saveToken == nil
            ? run.openFIDO() : run.openFIDO(pin, for: "issue a persistent token"))
        var report = FIDO2Report(profile: await service.profile)
        guard await service.hasCTAP2 else {
            if saveToken != nil || token.token != nil { throw FIDOError.unsupported("perCredMgmtRO") }
            return Outcome(report, "this key supports only U2F: ykit u2f --help")
        }
        let info = try await service.info()
        report.info = info
        report.pinRetries = try await Self.retries(service)
        report.uvRetries = try await Self.uvRetries(service)
        var issued = Answer()
        if let saveToken, let output {
            let token = try await service.persistentToken()
            try output.put(TokenFile.bytes(of: token), &issued)
            report.tokenFile = saveToken
            report.secrets = FIDO2Report.Secrets(try await service.freshInfo(), token)
        } else if let token = try await token.use(with: service, run) {
            report.secrets = FIDO2Report.Secrets(try await service.freshInfo(), token)
        }
        var outcome = Outcome(report, report.lines)
        outcome.answer.raw = issued.raw
        if !info.malformedMembers.isEmpty {
            outcome.answer.warnings.append(
                Warning(
                    "malformed-members",
                    "the key's answer to getInfo has malformed members: \(info.malformedMembers.listed())"))
        }
        return outcome
    }

    private static func retries(_ service: FIDOService) async throws -> PINRetries? {
        guard try await service.info().hasPIN else { return nil }
        return try await service.pinRetriesIfTold()
    }

    private static func uvRetries(_ service: FIDOService) async throws -> Int? {
        guard try await service.info().hasBuiltInUV else { return nil }
        return try await service.uvRetriesIfTold()
    }
}

/// Selects a key by a touch.
struct FIDO2Select: Verb {
    static let about = About(
        "Select a key by touching it.",
        discussion: """
            All keys blink, and the path of the one that is touched is printed:
              ykit --path "$(ykit fido2 select)" fido2 info
            """,
        examples: [Example("ykit fido2 select")])
    static let answer = Shape(Item<String>("path"))

    func run(in run: Run) async throws -> Outcome<String> {
        let path = try await run.touchedKey()
        return Outcome(path, path)
    }
}

/// Makes a key blink.
struct FIDO2Wink: Verb {
    static let about = About(
        "Make the key blink, to see which one it is.",
        discussion: "Only over HID, and only keys that report that they can. No touch is required.",
        examples: [Example("ykit fido2 wink")])
    static let answer = Shape.none

    func run(in run: Run) async throws -> Outcome<Void> {
        try await run.openFIDO().wink()
        return Outcome(done: "the key blinks")
    }
}

/// Whether the key must be removed and inserted again, since it allows a reset only after that.
struct Reinsertion: ParsableArguments {
    @Flag(
        "--reinsert", help: "Wait until the key is unplugged and plugged in again, and check that it is the same one.")
    var reinsert = false

    /// Refuses the option for a key that cannot be removed.
    func check(in run: Run) throws {
        guard isWanted(in: run), run.isVirtual || run.replay != nil else { return }
        throw Explanation.usage("--reinsert requires a key that can be removed")
    }

    /// Whether to wait for it; a plan does not.
    func isWanted(in run: Run) -> Bool { run.perform { reinsert } ?? false }
}

/// Deletes everything the FIDO application holds.
struct FIDO2Reset: Verb {
    static let about = About(
        "Delete all credentials, the PIN and the fingerprints.",
        discussion: """
            Every account registered with this key, including by U2F, becomes inaccessible: register another key there \
            first. Most keys allow a reset only within a few seconds of being plugged in, and require a touch.
            """,
        examples: [Example("ykit fido2 reset")])
    static let answer = Shape(done: "reset")

    @OptionGroup var confirmation: Confirmation

    @OptionGroup var reinsertion: Reinsertion

    func run(in run: Run) async throws -> Outcome<Void> {
        try reinsertion.check(in: run)
        let service = try await run.openFIDO()
        guard await service.hasCTAP2 else { throw FIDOError.unsupported("FIDO2") }
        let info = try await service.info()
        let profile = await service.profile
        let transports = info.transportsForReset
        let way = profile.carrier == .hid ? ["usb"] : ["usb", "nfc", "smart-card"]
        if !transports.isEmpty, !transports.contains(where: way.contains) {
            throw Explanation(
                "not-over-this-link", .policy,
                "this key can be reset only over \(transports.map(\.printable).listed())")
        }
        try confirmation.ask(
            typing: "reset",
            "this permanently deletes the passkeys and the PIN of this key; every login, SSH key, disk and file that was "
                + "registered with it without being listed on it stops working, too", in: run)
        if reinsertion.isWanted(in: run) {
            await service.close()  // finding the key by its serial number opens it again
            return try await reset(try await run.reinsertedFIDO(), info, in: run)
        }
        return try await reset(service, info, in: run)
    }

    private func reset(
        _ service: FIDOService, _ info: AuthenticatorInfo, in run: Run
    ) async throws -> Outcome<Void> {
        let touch =
            info.needsLongTouchForReset == true
            ? "hold your finger on it for \(info.longTouchSeconds) seconds" : "touch it"
        let isCard = await service.profile.carrier == .card
        run.announce("the reset of this key; \(isCard ? "if" : "when") it blinks, \(touch)")
        try await service.reset()
        return Outcome(done: "all FIDO credentials deleted; no PIN is set")
    }
}
