// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKKeys
import YKManagement
import YKWire

/// Sets the USB mode of an older key.
struct ConfigMode: Verb {
    static let about = About(
        "mode", "Show or set the USB interfaces of a NEO or YubiKey 4.",
        discussion: """
            A mode is a number from 0 to 6, or interfaces such as OTP+FIDO+CCID or o+f+c. The key shows it when it is \
            plugged in again. For the 5 series 'config usb' says more exactly what to switch on.
            """, members: ["mode", "interfaces", "supported"])

    @Argument("mode", help: "The mode; without one the current mode is shown.", transform: ConfigMode.mode)
    var mode: USBMode?

    @Flag("--touch-eject", help: "A touch ejects and inserts the smart card; when it is the only interface.")
    var touchEject = false

    @Option("--auto-eject-timeout <seconds>", help: "Eject the smart card after this long, 0 for never.")
    var autoEjectTimeout: UInt16?

    @Option("--chalresp-timeout <seconds>", help: "Wait this long for a touch in challenge-response, 0 for the usual.")
    var challengeResponseTimeout: UInt8 = 0

    @Flag(["--force", "-f"], help: "Do not ask for confirmation.") var force = false

    private static func mode(_ text: String) throws -> USBMode {
        guard let mode = USBMode(text) else {
            throw UsageError("'\(text.printable)' is not a mode, expected 0 to 6 or interfaces such as OTP+FIDO+CCID.")
        }
        return mode
    }

    func answer(in world: World) async throws -> Answer {
        let service = try await world.keys.openManagement()
        let info = try await service.deviceInfo()
        guard let mode else { return Self.answer(info.usb.enabled.usbInterfaces, info, lines: nil) }
        if !force, world.plan == nil {
            try Prompt.confirm("set the mode of this \(info.productName) to \(mode)?")
        }
        let ejects = touchEject || autoEjectTimeout != nil
        try await service.setMode(
            mode,
            timeouts: ModeTimeouts(
                challengeResponse: .seconds(challengeResponseTimeout),
                autoEject: ejects ? .seconds(autoEjectTimeout ?? 0) : nil))
        return Self.answer(
            mode.interfaces, info, lines: ["the mode is \(mode); take the key out and insert it again to use it"])
    }

    private static func answer(_ interfaces: USBInterfaces, _ info: DeviceInfo, lines: [String]?) -> Answer {
        Answer(
            lines ?? [interfaces.description],
            [
                "mode": USBMode(interfaces).map { .int(Int64($0.code)) } ?? .null,
                "interfaces": .string(interfaces.description),
                "supported": .string(info.usb.supported.usbInterfaces.description),
            ])
    }
}
