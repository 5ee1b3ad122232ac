// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKOTP
import YKWire

/// Configures the NDEF record that a key presents over NFC.
struct OTPNDEF: Verb {
    static let about = About(
        "ndef", "Set the URL or text that NFC readers get, followed by a slot's token.",
        members: ["slot", "kind", "prefix"])

    @Argument(help: "The slot, 1 or 2.", transform: OTPSlot.parse) var slot: OTPSlot

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The text before the token; https://my.yubico.com/yk/# by default.", valueName: "text"))
    var prefix: String?

    @Flag(help: "Give a text rather than an address.") var text = false

    @Option(help: ArgumentHelp("The language of the text, en by default.", valueName: "code")) var language = "en"

    @OptionGroup var code: AccessCodeOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.otp()
        guard await service.state(of: slot).isProgrammed != false else { throw OTPError.emptySlot(slot) }
        let record: OTPNDEFRecord =
            text ? .text(prefix ?? "", language: language) : prefix.map(OTPNDEFRecord.uri) ?? .standard
        try await service.setNDEF(record, for: slot, access: try code.read(world))
        let shown: String
        switch record {
        case .uri(let address): shown = address
        case .text(let text, _): shown = text
        }
        return Answer(
            "over NFC the key gives '\(shown.printable)' and the token of slot \(slot.rawValue)",
            [
                "slot": .int(Int64(slot.rawValue)), "kind": .string(text ? "text" : "uri"), "prefix": .string(shown),
            ])
    }
}
