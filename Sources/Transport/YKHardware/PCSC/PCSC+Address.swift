// SPDX-License-Identifier: Apache-2.0

import CPCSC
import YKTransport

extension PCSC {
    /// The USB bus and address of a reader, as reported by its driver (SCARD_ATTR_CHANNEL_ID, PC/SC part 3 §3.1.9: 0020
    /// for USB, then bus and address). The card is neither powered nor accessed; `nil` when the driver does not report
    /// it, or the reader is in exclusive use.
    static func usbAddress(of reader: String, timeout: Duration) -> (bus: Int, address: Int)? {
        guard let service = try? PCSCService.shared() else { return nil }
        let channel = try? service.run("the location of a reader", .after(timeout)) { session throws(PCSCFailure) in
            try session.channel(of: reader)
        }
        return channel.flatMap { $0 }.flatMap(address)
    }

    /// Reads the attribute: the number of a channel, in the machine's byte order.
    static func address(_ channel: UInt32) -> (bus: Int, address: Int)? {
        guard channel >> 16 == 0x0020 else { return nil }
        return (Int(channel >> 8 & 0xFF), Int(channel & 0xFF))
    }
}

extension PCSCSession {
    /// SCARD_ATTR_CHANNEL_ID.
    private static let channelID: DWORD = 0x0002_0110
    /// SCARD_SHARE_DIRECT: a connection to the reader, not to the card.
    private static let direct: DWORD = 3

    /// The channel of a reader; `nil` when its driver does not report it.
    func channel(of reader: String) throws(PCSCFailure) -> UInt32? {
        try withContext { context throws(PCSCFailure) in
            var handle: SCARDHANDLE = 0
            var active: DWORD = 0
            try PCSCFailure.check(library.connect(context, reader, Self.direct, 0, &handle, &active), .connect)
            defer { _ = library.disconnect(handle, Disposition.leave.rawValue) }
            var value = [UInt8](repeating: 0, count: 8)
            var length = DWORD(value.count)
            guard PCSCCode(library.attribute(handle, Self.channelID, &value, &length)) == .success, length >= 4
            else { return nil }
            return (0..<4).reduce(0) { $0 | UInt32(value[$1]) << (8 * $1) }
        }
    }
}
