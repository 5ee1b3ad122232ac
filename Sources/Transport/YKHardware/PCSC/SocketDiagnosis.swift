// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKWire

/// The kernel's table of local sockets with their other ends (netlink, sock_diag(7)), which /proc/net/unix lacks.
enum SocketDiagnosis {
    private static let byFamily: UInt16 = 20
    private static let requestDump: UInt16 = 0x301
    private static let showFile: UInt32 = 0x02
    private static let showPeer: UInt32 = 0x04
    private static let done: UInt16 = 3

    /// The inodes of the sockets connected to the one bound at `path`; `nil` when the kernel does not say.
    static func peers(of path: String) -> Set<UInt32>? {
        var file = stat()
        guard stat(path, &file) == 0, let table = dump() else { return nil }
        let inode = UInt32(truncatingIfNeeded: file.st_ino)
        return Set(table.filter { $0.file == inode }.compactMap(\.peer))
    }

    /// One local socket.
    struct Row: Hashable {
        /// The inode of the file that it, or the socket it was accepted from, is bound to.
        var file: UInt32?
        /// The inode of the socket at its other end.
        var peer: UInt32?
    }

    private static func dump() -> [Row]? {
        let handle = socket(AF_NETLINK, Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 4)
        guard handle >= 0 else { return nil }
        defer { close(handle) }
        var patience = timeval(tv_sec: 1, tv_usec: 0)
        setsockopt(handle, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        let question = request()
        guard send(handle, question, question.count, 0) == question.count else { return nil }
        var rows: [Row] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = recv(handle, &buffer, buffer.count, 0)
            guard count > 0, let isLast = read(Array(buffer.prefix(count)), into: &rows) else { return nil }
            if isLast { return rows }
        }
    }

    /// A netlink header and a unix_diag_req, in the machine's byte order.
    private static func request() -> [UInt8] {
        var bytes: [UInt8] = []
        func add(_ value: some FixedWidthInteger) { withUnsafeBytes(of: value) { bytes += $0 } }
        add(UInt32(16 + 24))
        add(byFamily)
        add(requestDump)
        add(UInt32(1))
        add(UInt32(0))
        add(UInt8(AF_UNIX))
        add(UInt8(0))
        add(UInt16(0))
        add(UInt32.max)
        add(UInt32(0))
        add(showFile | showPeer)
        add(UInt64(0))
        return bytes
    }

    /// Reads one datagram of messages; true after the last, `nil` when it is an error or not understood.
    static func read(_ datagram: [UInt8], into rows: inout [Row]) -> Bool? {
        var messages = ByteReader(datagram)
        while messages.remaining >= 16 {
            guard let length = try? messages.littleEndian(4), let type = try? messages.littleEndian(2),
                (try? messages.bytes(10)) != nil, length >= 16,
                var body = try? messages.reader(Int(length) - 16)
            else { return nil }
            if type == UInt64(done) { return true }
            guard type == UInt64(byFamily), (try? messages.bytes(padding(length, messages.remaining))) != nil else {
                return nil
            }
            rows.append(row(&body))
        }
        return false
    }

    private static func row(_ body: inout ByteReader) -> Row {
        var row = Row()
        guard (try? body.bytes(16)) != nil else { return row }
        while let length = try? body.littleEndian(2), let type = try? body.littleEndian(2), length >= 4,
            var value = try? body.reader(Int(length) - 4)
        {
            let number = (try? value.littleEndian(4)).map { UInt32(truncatingIfNeeded: $0) }
            switch type {
            case 1: row.file = number
            case 2: row.peer = number
            default: break
            }
            guard (try? body.bytes(padding(length, body.remaining))) != nil else { break }
        }
        return row
    }

    /// Messages and attributes start at multiples of four bytes.
    private static func padding(_ length: UInt64, _ left: Int) -> Int { min(Int(-Int64(length) & 3), left) }
}
