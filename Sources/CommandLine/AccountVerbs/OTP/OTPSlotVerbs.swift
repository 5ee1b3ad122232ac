// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKOTP
import YKTransport
import YKWire

enum PrivateIdentity: SecretKind {
    static let name = SecretName(
        "private-id", "private identity", "YKIT_OTP_PRIVATE_ID", alternative: "or --generate it")
}

/// Programs a Yubico OTP.
struct OTPYubiOTP: Verb {
    static let readsLines = true
    static let about = About(
        "Program a slot to type Yubico OTPs.",
        discussion: """
            The private identity (12 hexadecimal digits) and the key (32) are prompted for, given by options or the \
            environment, or generated with --generate. If several are read from standard input, the lines are, in \
            order: access code, private identity, key, new access code. --csv writes a new file for upload to YubiCloud.
            """,
        examples: [Example("ykit otp yubiotp 1 --serial-public-id --generate --csv yubicloud.csv")])
    typealias Reported = (slot: OTPSlot, publicID: String, serial: UInt32?)
    static let answer = Shape<Reported>(
        Member("slot") { String($0.slot.rawValue) }, Member("publicId", "in modhex") { $0.publicID },
        Member("serial", "if it was requested") { $0.serial.map { String($0) } })

    @OptionGroup var target: OTPProgramming

    @Option("--public-id <modhex>", help: "The public identity: an even number of letters, up to 32.")
    var publicId: String?

    @Flag("--serial-public-id", help: "Derive the public identity from the serial number.") var serialPublicId = false

    @OptionGroup var privateID: SecretOptions<PrivateIdentity>
    @OptionGroup var key: OTPKeyOptions

    @Option("--csv <file>", help: "Write a line for YubiCloud to this new file.") var csv: String?

    @OptionGroup var typing: TypingOptions

    func check() throws {
        if (publicId == nil) == !serialPublicId { throw UsageError("give --public-id or --serial-public-id") }
        if key.generate, privateID.isGiven {
            throw UsageError("--generate also generates the private identity")
        }
    }

    func run(in run: Run) async throws -> Outcome<Reported> {
        let service = try await run.otp()
        let serial = serialPublicId || csv != nil ? try await service.serial() : nil
        let identity = try self.identity(serial)
        let ((privateID, secret), access) = try target.read(in: run) {
            (try self.privateID(run), try key.read("AES key", made: 16, run))
        }
        let content = OTPSlotContent.yubicoOTP(publicID: identity, privateID: privateID, key: secret)
        try await target.write(content, typing.settings, access: access, to: service, in: run) {
            try disclosures(run, serial, identity, privateID, secret, access)
        }
        let text = Modhex.encode(identity)
        return Outcome(
            (slot: target.slot, publicID: text, serial: serial),
            "slot \(target.slot.rawValue) types Yubico OTPs of \(text.isEmpty ? "no public identity" : text)")
    }

    /// Returns the public identity; one made from the serial number is FF 00 and its four bytes, which Yubico's servers
    /// treat as customer-assigned.
    private func identity(_ serial: UInt32?) throws -> [UInt8] {
        if let serial, serialPublicId {
            return [0xFF, 0x00] + (0..<4).map { UInt8(truncatingIfNeeded: serial >> (24 - 8 * UInt32($0))) }
        }
        guard let bytes = try? Modhex.decode(publicId ?? ""), bytes.count <= 16 else {
            throw Explanation.usage(
                "the public identity must be modhex of at most 32 letters", hint: "the letters are \(Modhex.alphabet)")
        }
        return bytes
    }

    private func privateID(_ run: Run) throws -> SharedSecret {
        if key.generate { return try OTPSecret.random(6, run) }
        return SharedSecret(try OTPSecret.read(privateID.source, "private identity", run))
    }

    /// Returns the line for YubiCloud and the generated secrets to disclose.
    private func disclosures(
        _ run: Run, _ serial: UInt32?, _ identity: [UInt8], _ privateID: SharedSecret, _ secret: SharedSecret,
        _ access: OTPAccess
    ) throws -> [Disclosure] {
        let words = privateID.value.withBytes { Hex.encode($0) } + " " + secret.value.withBytes { Hex.encode($0) }
        let isInCSV = csv != nil && key.output == nil
        let made = isInCSV ? [] : try key.disclosures("private identity and key", words, run)
        guard let csv else { return made }
        let record = YubiCloudRecord(
            serial: serial ?? 0, publicID: identity, privateID: privateID, key: secret, accessCode: access.new,
            time: run.now)
        return try made + [Disclosure("", SharedSecret(record.line), in: csv, orElse: "", run.terminal)]
    }
}

enum StaticPassword: SecretKind {
    static let name = SecretName("password", "password", "YKIT_OTP_PASSWORD", alternative: "or --generate one")
}

/// Programs a static password.
struct OTPStatic: Verb {
    static let readsLines = true
    static let about = About(
        "Program a slot to type a static password.",
        discussion: """
            A key types positions, not characters: give the layout that the computer uses. With modhex, the default, \
            only the letters \(Modhex.alphabet) are possible, which are in the same places in nearly all layouts. The \
            password comes from a prompt, --password-stdin, --password-fd or YKIT_OTP_PASSWORD, or is generated with \
            --generate. If several are read from standard input, the lines are, in order: access code, password, new \
            access code.
            """,
        examples: [Example("ykit otp static 2 --generate --length 20")])
    typealias Reported = (slot: OTPSlot, layout: KeyboardLayout, length: Int)
    static let answer = Shape<Reported>(
        Member("slot") { String($0.slot.rawValue) }, Member("layout") { $0.layout.rawValue },
        Member("length") { $0.length })

    @OptionGroup var target: OTPProgramming

    @Option(["--layout", "-l"], help: "The keyboard layout of a static password.")
    var layout: KeyboardLayout = .modhex

    @OptionGroup var given: SecretOptions<StaticPassword>

    @Flag(["--generate", "-g"], help: "Generate a random password.") var generate = false

    @Option("--length", help: "The length of the generated password, up to 38.") var length = 38

    @Option("--output <file>", help: "Write generated secrets to this file instead of to the terminal.")
    var output: String?

    @OptionGroup var typing: TypingOptions

    func check() throws {
        if generate, given.isGiven { throw UsageError("--generate cannot be combined with a password") }
        if output != nil, !generate { throw UsageError("--output needs --generate") }
        if !(1...OTPSlotContent.scanCodeLimit).contains(length) { throw UsageError("--length must be 1 to 38") }
    }

    func run(in run: Run) async throws -> Outcome<Reported> {
        let service = try await run.otp()
        let ((password, codes), access) = try target.read(in: run) {
            let password = SharedSecret(try self.password(run))
            return (password, try scanCodes(password.value))
        }
        let count = codes.value.count
        let content = OTPSlotContent.staticPassword(scanCodes: codes)
        try await target.write(content, typing.settings, access: access, to: service, in: run) {
            try generate ? [Disclosure("password", password, in: output, orElse: OTPSecret.whereTo, run.terminal)] : []
        }
        return Outcome(
            (slot: target.slot, layout: layout, length: count),
            "slot \(target.slot.rawValue) types a password of \(count) characters")
    }

    private func password(_ run: Run) throws -> Secret {
        if generate { return try layout.password(length: length, random: run.environment.random) }
        return try given.source.readNew(run.terminal, asking: "static password")
    }

    private func scanCodes(_ password: borrowing Secret) throws -> SharedSecret {
        var bytes = password.copyBytes()
        defer { Secret.wipe(&bytes) }
        do {
            var codes = try layout.scanCodes(String(decoding: bytes, as: UTF8.self))
            defer { Secret.wipe(&codes) }
            return SharedSecret(Secret(codes))
        } catch {
            throw Explanation.usage(
                "the layout \(layout.rawValue) has no key for character \(error.offset + 1) of the password",
                hint: "choose the computer's layout with --layout")
        }
    }
}

/// Programs challenge-response.
struct OTPChalResp: Verb {
    static let readsLines = true
    static let about = About(
        "Program a slot for challenge-response.",
        discussion: """
            With HMAC-SHA-1 the key has up to 20 bytes, with --yubico 16. It is hexadecimal, or base 32 with --totp, \
            and comes from a prompt, --key-stdin, --key-fd or YKIT_OTP_KEY, or is generated with --generate. For \
            KeePassXC, program the slot without --full-challenges and --yubico, and a second key with the same secret: \
            without one of them the database cannot be opened. If several are read from standard input, the lines are, \
            in order: access code, key, new access code.
            """,
        examples: [Example("ykit otp chalresp 2 --generate --touch")])
    typealias Reported = (slot: OTPSlot, needsTouch: Bool, isYubico: Bool)
    static let answer = Shape<Reported>(
        Member("slot") { String($0.slot.rawValue) }, Member("touch") { $0.needsTouch },
        Member("kind", "hmac-sha1 or yubico-otp") { $0.isYubico ? "yubico-otp" : "hmac-sha1" })

    @OptionGroup var target: OTPProgramming

    @Flag(["--touch", "-t"], help: "Require a touch before each response.") var touch = false

    @Flag(["-T", "--totp"], help: "The key is base 32, as services print it for TOTP.") var totp = false

    @Flag("--yubico", help: "Answer with Yubico OTP blocks rather than HMACs.") var yubico = false

    @Flag("--full-challenges", help: "Accept only challenges of 64 bytes, including trailing zeros.")
    var fullChallenges = false

    @OptionGroup var key: OTPKeyOptions

    func run(in run: Run) async throws -> Outcome<Reported> {
        let service = try await run.otp()
        let (secret, access) = try target.read(in: run) {
            try key.read(yubico ? "AES key" : "HMAC key", made: yubico ? 16 : 20, base32: totp, run)
        }
        let content: OTPSlotContent =
            yubico
            ? .challengeOTP(key: secret, needsTouch: touch)
            : .hmac(key: secret, needsTouch: touch, takesShortChallenges: !fullChallenges)
        try await target.write(content, access: access, to: service, in: run) {
            try key.disclosures("key", secret.value.withBytes { totp ? Base32.encode(Array($0)) : Hex.encode($0) }, run)
        }
        return Outcome(
            (slot: target.slot, needsTouch: touch, isYubico: yubico),
            "slot \(target.slot.rawValue) answers challenges" + (touch ? " when touched" : ""))
    }
}

/// Programs HOTP.
struct OTPHOTP: Verb {
    static let readsLines = true
    static let about = About(
        "Program a slot to type HOTP codes.",
        discussion: """
            The key is base 32, as services print it, and comes from a prompt, --key-stdin, --key-fd or YKIT_OTP_KEY, \
            or is generated with --generate. If several are read from standard input, the lines are, in order: access \
            code, key, new access code.
            """,
        examples: [Example("ykit otp hotp 2 --digits 8"), Example("ykit otp hotp 2 --generate --output hotp.secret")])
    typealias Reported = (slot: OTPSlot, digits: Int, counter: Int, identifier: String?)
    static let answer = Shape<Reported>(
        Member("slot") { String($0.slot.rawValue) }, Member("digits") { $0.digits }, Member("counter") { $0.counter },
        Member("identifier", "as it was given") { $0.identifier })

    @OptionGroup var target: OTPProgramming

    @Option(["--digits", "-d"], help: "Number of digits in a code: 6 or 8.") var digits = 6

    @Option(["--counter", "-c"], help: "Initial counter: a multiple of 16 up to 1048560.") var counter = 0

    @Option(
        "--identifier <text>",
        help:
            "Typed before each code: an OATH token identifier of 12 characters, its last 8, or its first 4 followed by "
            + "the serial number; '-' for Yubico's.")
    var identifier: String?

    @OptionGroup var key: OTPKeyOptions
    @OptionGroup var typing: TypingOptions

    func check() throws {
        if digits != 6, digits != 8 { throw UsageError("a code must have 6 or 8 digits") }
    }

    func run(in run: Run) async throws -> Outcome<Reported> {
        let service = try await run.otp()
        var form = OTPSlotContent.HOTP()
        form.hasEightDigits = digits == 8
        form.counter = counter
        if let identifier {
            let text = identifier == "-" ? OTPTokenIdentifier.yubico : identifier
            let serial = text.utf8.count == 4 ? try await service.serial() : nil
            form.identifier = try OTPTokenIdentifier(text, serial: serial)
        }
        let (secret, access) = try target.read(in: run) {
            try key.read("HOTP key", made: 20, base32: true, run)
        }
        try await target.write(.hotp(key: secret, form), typing.settings, access: access, to: service, in: run) {
            try key.disclosures("key", secret.value.withBytes { Base32.encode(Array($0)) }, run)
        }
        return Outcome(
            (slot: target.slot, digits: digits, counter: counter, identifier: identifier),
            "slot \(target.slot.rawValue) types HOTP codes")
    }
}

/// The slot to program, and its access codes.
struct OTPProgramming: ParsableArguments {
    @Argument("slot", help: "The slot, 1 or 2.", transform: OTPSlot.parse) var slot: OTPSlot

    @Flag(["--force", "-f"], help: "Do not ask before overwriting a slot.") var force = false

    @OptionGroup var code: AccessCodeOptions
    @OptionGroup var newCode: NewAccessCodeOptions

    /// Reads the current access code, the slot's secrets and the new access code, in the order in which standard input
    /// provides them.
    func read<Secrets>(in run: Run, _ secrets: () throws -> Secrets) throws -> (Secrets, OTPAccess) {
        let current = try code.read(run)
        let secrets = try secrets()
        return (secrets, try newCode.access(from: current, run))
    }

    /// Programs the slot, after asking if it is in use. Generated secrets are written to disk first, and disclosed
    /// afterwards.
    func write(
        _ content: OTPSlotContent, _ settings: OTPSettings? = nil, access: OTPAccess, to service: OTPService,
        in run: Run, disclosing made: () throws -> [Disclosure]
    ) async throws {
        try await run.confirm(writing: slot, of: service, force: force)
        let made = try run.perform(made) ?? []
        do { try await service.program(slot, content, settings, access: access) } catch {
            try Disclosure.keep(made, after: error, run.terminal)
            throw error
        }
        try Disclosure.show(made)
        await run.warn(unconfirmed: service)
    }
}
