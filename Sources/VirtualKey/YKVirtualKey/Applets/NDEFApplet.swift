// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// A read-only NFC Forum Type 4 tag: the capability container, and a file with one record that contains a new token of
/// a slot each time it is selected.
struct NDEFApplet: Applet {
    static let aid = AID.ndef
    static let capabilities = VirtualCapability.otp
    static let isContactless = true
    static func opensChannels(on profile: DeviceProfile) -> Bool { false }

    /// The size of the message file in bytes; one command reads it.
    private static let fileSize: UInt16 = 127

    /// The URI that a key with restricted NFC returns instead of a token (ykman 5.9.2).
    static let restriction = NDEFURI("https://yubico.com/getting-started")

    private var file: [UInt8]?
    private let fixed: NDEFURI?

    init() { fixed = nil }

    /// Creates a tag with a fixed message.
    init(message: NDEFURI) { fixed = message }

    mutating func select(_ key: inout VirtualKeyState, _ inputs: VirtualInputs) -> [UInt8] { [] }

    mutating func process(
        _ command: APDU, _ key: inout VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        switch command.ins {
        case ISO7816.select:
            try selectFile(command, &key, inputs)
            return []
        case ISO7816.readBinary: return try read(command)
        default: throw .status(.unknownInstruction)
        }
    }

    private mutating func selectFile(
        _ command: APDU, _ key: inout VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) {
        guard command.p1 == 0, command.p2 == 0x0C else { throw .status(.wrongParameters) }
        switch command.data {
        case NDEFProtocol.File.capabilityContainer: file = Self.container(of: key.profile).encoded
        case NDEFProtocol.File.message: file = try message(&key, inputs)
        default: throw .status(.notFound)
        }
    }

    /// Anyone may read the message file, and no one may write it, although a NEO's container says so (recorded by
    /// go-nfctype4).
    private static func container(of profile: DeviceProfile) -> CapabilityContainer {
        var container = CapabilityContainer(fileSize: fileSize, readLimit: fileSize)
        if profile.version.major == 3 {
            container.writeLimit = fileSize
            container.writeAccess = 0
        }
        return container
    }

    /// READ BINARY from the offset in P1 P2 (ISO 7816-4 §11.3.3); the card truncates the reply to Le.
    private func read(_ command: APDU) throws(Refusal) -> [UInt8] {
        guard let file else { throw .status(.commandNotAllowed) }
        let offset = Int(command.p1) << 8 | Int(command.p2)
        guard offset < file.count else { throw .status(.wrongParameters) }
        let rest = file[offset...]
        if case .bytes(let count) = command.le { return Array(rest.prefix(Int(count))) }
        return Array(rest.prefix(256))
    }

    /// The length of the current message, then the message.
    private func message(
        _ key: inout VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        let (kind, payload) =
            if let fixed { (UInt8(ascii: "U"), [fixed.code] + fixed.rest) } else { try key.nextNDEF(inputs) }
        let room = Int(Self.fileSize) - 6
        let record = NDEFRecord(.wellKnown, type: [kind], payload: Array(payload.prefix(room)))
        guard let message = try? NDEFMessage([record]).encoded() else { throw .status(.memoryFailure) }
        return [UInt8(message.count >> 8), UInt8(truncatingIfNeeded: message.count)] + message
    }
}

/// The management application: reports the key's identity and capabilities, and enables and disables applications.
struct ManagementApplet: Applet {
    static let aid = AID.management

    private typealias Instruction = ManagementProtocol.Instruction

    mutating func select(_ key: inout VirtualKeyState, _ inputs: VirtualInputs) -> [UInt8] {
        Array("Virtual mgr - FW version \(key.profile.version)".utf8)
    }

    /// READ CONFIG, WRITE CONFIG, RESET DEVICE, SET MODE (which a NEO expects in its OTP application), and ECHO, which
    /// returns its data; ykman's device tests exercise secure channels with it.
    mutating func process(
        _ command: APDU, _ key: inout VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        switch (command.ins, command.p1) {
        case (Instruction.readConfig, _) where key.profile.version >= FirmwareVersion(4, 1, 0):
            guard let page = key.managementPage(command.p1) else { throw .status(.wrongParameters) }
            return page
        case (Instruction.echo, 0) where key.profile.version.major >= 5: return command.data
        case (Instruction.writeConfig, 0): try key.writeManagement(command.data)
        case (Instruction.resetDevice, 0): try key.resetDevice()
        case (Instruction.setMode, ManagementProtocol.mode) where key.profile.version.major >= 4:
            try key.setMode(command.data)
        default: throw .status(.unknownInstruction)
        }
        return []
    }
}

/// The Yubico OTP application over a card: the commands are in P1 of instruction 01; 03 and SELECT return the status.
struct OTPApplet: Applet {
    static let aid = AID(rawValue: AID.otp.rawValue + [0x01])
    static let capabilities = VirtualCapability.otp
    static let takesReaderForTouch = true

    mutating func select(_ key: inout VirtualKeyState, _ inputs: VirtualInputs) -> [UInt8] {
        // NEO and YubiKey 4 add mode, challenge-response timeout and time until ejection, the low byte first.
        let management = key.management
        guard key.profile.version.major == 3 || key.profile.version.major == 4 else { return key.otpStatus.encoded }
        return key.otpStatus.encoded + [
            (management.mode ?? 6) | management.flags, management.challengeResponse,
            UInt8(truncatingIfNeeded: management.autoEject), UInt8(management.autoEject >> 8),
        ]
    }

    mutating func process(
        _ command: APDU, _ key: inout VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        switch command.ins {
        case OTPProtocol.Instruction.status: return key.otpStatus.encoded
        case OTPProtocol.Instruction.slot:
            let command = (number: OTPCommand(rawValue: command.p1), payload: command.data)
            let data = try key.otp(command.number, command.payload, inputs)
            return command.number.isWrite ? key.otpStatus.encoded : data
        default: throw .status(.unknownInstruction)
        }
    }
}
