// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKCrypto
import YKOTP
import YKWire

enum PrivateIdentity: SecretKind {
    static let name = SecretName(
        "private-id", "private identity", "YKIT_OTP_PRIVATE_ID", alternative: "or --generate it")
}

/// Programs a Yubico OTP.
struct OTPYubiOTP: Verb {
    static let about = About(
        "yubiotp", "Program a slot to type Yubico OTPs.",
        discussion: """
            The private identity (12 hexadecimal digits) and the key (32) are asked for, come by options or the \
            environment, or are made up with --generate. When several come by standard input, their lines are: access \
            code, private identity, key, new access code. --csv writes what YubiCloud's upload takes into a new file.
            """, members: ["slot", "publicId", "serial"])

    @OptionGroup var target: OTPProgramming

    @Option(help: ArgumentHelp("The public identity; its length is even and at most 32.", valueName: "modhex"))
    var publicId: String?

    @Flag(help: "Derive the public identity from the serial number.") var serialPublicId = false

    @OptionGroup var privateID: SecretOptions<PrivateIdentity>
    @OptionGroup var key: OTPKeyOptions

    @Option(
        help: ArgumentHelp("Write a line for YubiCloud into this new file.", valueName: "file"), completion: .file)
    var csv: String?

    @OptionGroup var typing: TypingOptions

    func check() throws {
        if (publicId == nil) == !serialPublicId { throw UsageError("give --public-id or --serial-public-id") }
        if key.generate, privateID.isGiven {
            throw UsageError("--generate makes the private identity up as well")
        }
    }

    func answer(in world: World) async throws -> Answer {
        let service = try await world.otp()
        let serial = serialPublicId || csv != nil ? try await service.serial() : nil
        let identity = try self.identity(serial)
        let ((privateID, secret), access) = try target.read(in: world) {
            (try self.privateID(world), try key.read("AES key", made: 16, world))
        }
        let content = OTPSlotContent.yubicoOTP(publicID: identity, privateID: privateID, key: secret)
        try await target.write(content, typing.settings, access: access, to: service, in: world) {
            try disclosures(world, serial, identity, privateID, secret, access)
        }
        let text = Modhex.encode(identity)
        return Answer(
            "slot \(target.slot.rawValue) types Yubico OTPs of \(text.isEmpty ? "no public identity" : text)",
            [
                "slot": .int(Int64(target.slot.rawValue)), "publicId": .string(text),
                "serial": serial.map { .int(Int64($0)) } ?? .null,
            ])
    }

    /// Returns the public identity; one made from the serial number is FF 00 and its four bytes, which Yubico's servers
    /// treat as customer-assigned.
    private func identity(_ serial: UInt32?) throws -> [UInt8] {
        if let serial, serialPublicId {
            return [0xFF, 0x00] + (0..<4).map { UInt8(truncatingIfNeeded: serial >> (24 - 8 * UInt32($0))) }
        }
        guard let bytes = try? Modhex.decode(publicId ?? ""), bytes.count <= 16 else {
            throw Explanation.usage(
                "the public identity is not modhex of at most 32 letters", hint: "the letters are \(Modhex.alphabet)")
        }
        return bytes
    }

    private func privateID(_ world: World) throws -> SharedSecret {
        if key.generate { return try OTPSecret.random(6, world) }
        return SharedSecret(try OTPSecret.read(privateID.source, "private identity", world))
    }

    /// Returns the line for YubiCloud and the generated secrets to disclose.
    private func disclosures(
        _ world: World, _ serial: UInt32?, _ identity: [UInt8], _ privateID: SharedSecret, _ secret: SharedSecret,
        _ access: OTPAccess
    ) throws -> [Disclosure] {
        let words = privateID.value.withBytes { Hex.encode($0) } + " " + secret.value.withBytes { Hex.encode($0) }
        let isInCSV = csv != nil && key.output == nil
        let made = isInCSV ? [] : try key.disclosures("private identity and key", words)
        guard let csv else { return made }
        let record = YubiCloudRecord(
            serial: serial ?? 0, publicID: identity, privateID: privateID, key: secret, accessCode: access.new,
            time: world.now)
        return try made + [Disclosure("", SharedSecret(record.line), in: csv, orElse: "")]
    }
}
