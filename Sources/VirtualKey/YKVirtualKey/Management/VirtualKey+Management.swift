// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKProtocols
import YKTransport
package import YKWire

extension VirtualKey {
    /// Executes a vendor command of FIDO HID: READ CONFIG (42), WRITE CONFIG (43) and SET MODE (40) of Yubico's
    /// management; rejects all others.
    package func manage(_ message: CTAPHID.Message) -> VirtualHID.Outcome {
        guard state.profile.model.applets == nil else { return tunnel(message) }
        let outcome = try? change { key throws(Refusal) in
            switch message.command.rawValue {
            case FIDOProtocol.Vendor.setMode: try key.setMode(message.payload)
            case FIDOProtocol.Vendor.readConfig:
                guard let page = key.managementPage(message.payload.first ?? 0) else {
                    throw .status(.wrongParameters)
                }
                return page
            case FIDOProtocol.Vendor.writeConfig: try key.writeManagement(message.payload)
            default: throw .status(.unknownInstruction)
            }
            return []
        }
        switch outcome {
        case .answer(let bytes): return .answer(bytes)
        case .refused(let status): return .refused(Self.code(of: status))
        case .waiting, .computing, nil: return .refused(.other)
        }
    }

    private static func code(of status: StatusWord) -> CTAPHID.ErrorCode {
        switch status {
        case .unknownInstruction: .invalidCommand
        case .wrongLength: .invalidLength
        default: .invalidParameter
        }
    }

    /// Returns whether the key was told to restart since the last call; the server then unplugs it for a moment.
    package func takeRestart() -> Bool {
        body.withLock { body in
            defer { body.card.state.managementPower.isRestarting = false }
            return body.card.state.managementPower.isRestarting
        }
    }

    /// Plugs the key into a USB port, which lifts its NFC restriction. A key whose profile has no port stays where it is.
    public func plugIn() {
        guard state.profile.transport == .usb else { return }
        if isOnReader { body.withLock { $0.card = VirtualCard($0.card.state) } }
        guard state.management.isNFCRestricted else { return }
        _ = try? change { key throws(Refusal) in
            key.management.isNFCRestricted = false
            return []
        }
    }

    /// Whether the key is on a contactless reader.
    package var isOnReader: Bool { body.withLock { $0.card.isOnReader } }

    /// Puts the key on a contactless reader, where it is a tag (``plugIn()`` takes it back): it loses power, and links
    /// made after that are to the reader.
    public func layOnReader() { body.withLock { $0.card = VirtualCard($0.card.state, isOnReader: true) } }
}
