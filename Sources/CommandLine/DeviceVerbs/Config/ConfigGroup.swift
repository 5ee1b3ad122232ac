// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKKeys
import YKManagement
import YKWire

/// Commands for the configuration of a key's applications.
struct ConfigGroup: ParsableCommand {
    static let about = About(
        "Enable or disable applications of a YubiKey, and protect that with a lock code.",
        subcommands: [
            "usb": ConfigUSB.self, "nfc": ConfigNFC.self, "lock-code": ConfigLockCode.self, "mode": ConfigMode.self,
            "reset": ConfigReset.self,
        ],
        examples: [Example("ykit config usb --disable otp")])
}

/// Sets the USB mode of an older key.
struct ConfigMode: Verb {
    static let about = About(
        "Show or set the USB interfaces of a NEO or YubiKey 4.",
        discussion: """
            A mode is a number from 0 to 6, or interfaces such as OTP+FIDO+CCID or o+f+c. It takes effect when the key \
            is plugged in again. For the 5 series, 'config usb' gives finer control.
            """,
        examples: [Example("ykit config mode"), Example("ykit config mode OTP+FIDO+CCID")])
    typealias Reported = (interfaces: USBInterfaces, supported: USBInterfaces)
    static let answer = Shape<Reported>(
        Member("mode", "null if no mode has these interfaces") { USBMode($0.interfaces)?.code },
        Member("interfaces") { $0.interfaces.description }, Member("supported") { $0.supported.description })

    @Argument("mode", help: "The mode; if omitted, the current mode is shown.", transform: ConfigMode.mode)
    var mode: USBMode?

    @Flag("--touch-eject", help: "A touch ejects and inserts the smart card, if it is the only interface.")
    var touchEject = false

    @Option("--auto-eject-timeout <seconds>", help: "Eject the smart card after this long, 0 for never.")
    var autoEjectTimeout: UInt16?

    @Option(
        "--chalresp-timeout <seconds>", help: "Wait this long for a touch in challenge-response, 0 for the default.")
    var challengeResponseTimeout: UInt8 = 0

    @Flag(["--force", "-f"], help: "Do not ask for confirmation.") var force = false

    private static func mode(_ text: String) throws -> USBMode {
        guard let mode = USBMode(text) else {
            throw UsageError("'\(text.printable)' is not a mode, expected 0 to 6 or interfaces such as OTP+FIDO+CCID")
        }
        return mode
    }

    func run(in run: Run) async throws -> Outcome<Reported> {
        let service = try await run.key.open(ManagementService.self)
        let info = try await service.deviceInfo()
        guard let mode else { return Self.outcome(info.usb.enabled.usbInterfaces, info, line: nil) }
        try run.confirm("set the mode of this \(info.productName) to \(mode)?", unless: force)
        let ejects = touchEject || autoEjectTimeout != nil
        try await service.setMode(
            mode,
            timeouts: ModeTimeouts(
                challengeResponse: .seconds(challengeResponseTimeout),
                autoEject: ejects ? .seconds(autoEjectTimeout ?? 0) : nil))
        return Self.outcome(
            mode.interfaces, info, line: "the mode is \(mode); remove and re-insert the key to use it")
    }

    private static func outcome(
        _ interfaces: USBInterfaces, _ info: DeviceInfo, line: String?
    ) -> Outcome<Reported> {
        Outcome(
            (interfaces: interfaces, supported: info.usb.supported.usbInterfaces),
            line ?? interfaces.description)
    }
}

/// Resets all applications of a key.
struct ConfigReset: Verb {
    static let about = About(
        "Reset all applications of a YubiKey Bio, and the PIN that they share.",
        discussion: "On other keys, reset the applications one by one: fido2 reset, oath reset, and so on.",
        examples: [Example("ykit config reset")])
    static let answer = Shape(done: "reset")

    @Flag(["--force", "-f"], help: "Do not ask for confirmation.") var force = false

    func run(in run: Run) async throws -> Outcome<Void> {
        let service = try await run.key.open(ManagementService.self)
        let info = try await service.deviceInfo()
        guard info.canResetWhole else { throw ManagementError.noWholeReset }
        try run.confirm(
            typing: "reset",
            "this permanently deletes all keys, certificates, credentials and fingerprints on this \(info.productName)",
            unless: force)
        try await run.showing("resetting all applications") { try await service.resetDevice() }
        return Outcome(done: "all applications reset; no PIN is set")
    }
}
