// SPDX-License-Identifier: Apache-2.0

import YKProtocols
package import YKTransport
import YKWire

/// Management over a smart card: the management application, selected on a channel.
package final class CardCarrier: ManagementCarrier {
    private let channel: CardChannel
    package let version: FirmwareVersion

    /// Selects the application. A NEO over NFC has none; there the OTP application reports the version. Some CanoKey
    /// versions (canokey-core, meta.c) have an imitation that reports a YubiKey 5.5.5 and cannot be written to: it is
    /// treated as absent.
    package init(_ channel: CardChannel) throws(ManagementError) {
        self.channel = channel
        version = try Self.version(of: channel)
    }

    private static func version(of channel: CardChannel) throws(ManagementError) -> FirmwareVersion {
        guard !channel.identity.isCanoKey else { throw .card(.appletMissing(.management)) }
        let reply: [UInt8]
        do { reply = try channel.select(.management) } catch {
            guard case .appletMissing = error, channel.identity.isYubiKey, let status = try? channel.select(.otp),
                status.first == 3, let version = try? FirmwareVersion(bytes: Array(status.prefix(3)))
            else { throw .card(error) }
            return version
        }
        return try lift({ ManagementError.malformed($0, during: "SELECT management") }) { () throws(WireError) in
            try FirmwareVersion(in: reply)
        }
    }

    package var exchanges: Int { channel.exchanges }
    package func rest() { channel.rest() }
    package func close() { channel.close() }

    package func readPage(_ page: UInt8) throws(ManagementError) -> [UInt8] {
        try lift(ManagementError.card) { () throws(CardError) in try channel.send(ReadConfig(page: page)) }
    }

    package func write(_ configuration: [UInt8]) throws(ManagementError) {
        try lift(ManagementError.card) { () throws(CardError) in try channel.send(WriteConfig(bytes: configuration)) }
    }

    /// On a NEO this is a command of the OTP application (ykman 5.9.2).
    package func setMode(_ mode: [UInt8]) throws(ManagementError) {
        try lift(ManagementError.card) { () throws(CardError) in
            if version.major < 4 {
                try channel.leaveManagement(of: version)
                _ = try channel.select(.otp)
            }
            try channel.send(SetMode(bytes: mode, isInOTP: version.major < 4))
        }
    }

    package func reset() throws(ManagementError) {
        try lift(ManagementError.card) { () throws(CardError) in try channel.send(ResetDevice()) }
    }

    package func olderKey(
        _ product: USBProduct?, _ skipping: (ManagementError) throws(ManagementError) -> Void
    ) throws(ManagementError) -> DeviceInfo {
        try lift(ManagementError.card) { () throws(CardError) in try channel.leaveManagement(of: version) }
        return try OlderKey.info(channel, version: version) { error throws(ManagementError) in
            guard case .link(.replay) = error else { throw .card(error) }
            try skipping(.card(error))
        }
    }
}
