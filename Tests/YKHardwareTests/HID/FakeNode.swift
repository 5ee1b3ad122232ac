// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKTransport
import YKWire

@testable import YKHardware

/// The other end of a link whose node is a socket that keeps the limits of messages, as hidraw does.
final class FakeNode {
    struct NoSocket: Error {}

    static let fido = "06d0f10901a1010920150026ff007508954081020921150026ff00750895409102c0"

    let link: HIDRawLink
    private var end: Int32

    init(_ descriptor: String = FakeNode.fido) throws {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_SEQPACKET.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw NoSocket() }
        end = ends[1]
        let identity = ReportIdentity(path: "/dev/hidraw7", name: "Fake", vendor: 0x1050, product: 0x0120)
        link = HIDRawLink(ends[0], identity, try HIDReportDescriptor(decoding: try Hex.decode(descriptor)))
    }

    deinit { unplug() }

    /// Delivers a report, or fewer bytes than one.
    func deliver(_ bytes: [UInt8]) { _ = send(end, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

    /// What was written last; `nil` when nothing was.
    func written() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = recv(end, &buffer, buffer.count, 0)
        return count > 0 ? Array(buffer[..<count]) : nil
    }

    func unplug() {
        guard end >= 0 else { return }
        close(end)
        end = -1
    }
}
