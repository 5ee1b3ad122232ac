// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKTransport
import YKWire

/// Examines pcscd without libpcsclite: the library reports most failures with the same code.
enum ServiceProbe {
    /// The state of the socket.
    enum Finding: Hashable, Sendable {
        /// There is no socket, or no one is listening.
        case absent
        /// The file permissions deny access.
        case forbidden
        /// It accepts the connection and closes it, as pcscd up to 1.9.9 does for a client that polkit refuses.
        case hangsUp
        /// It reports its version, so it works.
        case answers
        /// It does not respond.
        case silent
    }

    /// CMD_VERSION with its header: size 12, command 17, then version 4:4 and no error, in the machine's byte order.
    private static let version: [UInt32] = [12, 0x11, 4, 4, 0]

    /// Connects, requests the version and waits briefly for the answer.
    static func ask(_ path: String, patience milliseconds: Int32 = 300) -> Finding {
        exchange(path, milliseconds).finding
    }

    /// The daemon's protocol version, as in `4:4`; `nil` when it does not report it.
    static func protocolVersion(_ path: String, patience milliseconds: Int32 = 300) -> String? {
        var reply = ByteReader(exchange(path, milliseconds).reply)
        guard let major = try? reply.nativeWord(), let minor = try? reply.nativeWord() else { return nil }
        return "\(major):\(minor)"
    }

    private static func exchange(_ path: String, _ milliseconds: Int32) -> (finding: Finding, reply: [UInt8]) {
        let handle = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard handle >= 0 else { return (.silent, []) }
        defer { close(handle) }
        _ = fcntl(handle, F_SETFL, O_NONBLOCK)
        guard connect(handle, path) else {
            switch errno {
            case EACCES, EPERM: return (.forbidden, [])
            case EAGAIN: return (.silent, [])
            default: return (.absent, [])
            }
        }
        let sent = version.withUnsafeBytes { send(handle, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        guard sent == version.count * 4 else { return (.hangsUp, []) }
        var waiting = pollfd(fd: handle, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, milliseconds) == 1 else { return (.silent, []) }
        var reply = [UInt8](repeating: 0, count: 64)
        let count = recv(handle, &reply, reply.count, 0)
        return count > 0 ? (.answers, Array(reply.prefix(count))) : (.hangsUp, [])
    }

    private static func connect(_ handle: Int32, _ path: String) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            errno = ENAMETOOLONG
            return false
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(handle, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }

    /// Whether pcscd is installed where distributions put it.
    static var isInstalled: Bool { program != nil }

    /// The path of the program pcscd, where distributions put it.
    static var program: String? {
        ChildProcess.find("pcscd", path: (ProcessVariables["PATH"] ?? "") + ":/usr/sbin:/sbin:/usr/local/sbin")
    }
}

extension ByteReader {
    /// A number of four bytes in the machine's byte order.
    fileprivate mutating func nativeWord() throws(WireError) -> UInt32 {
        let bytes = try bytes(4)
        return bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
    }
}

/// The processes connected to pcscd. pcscd does not report which one holds a card, so these are the candidates.
enum ServiceClients {
    /// The processes connected to the socket at `path`, without this one.
    ///
    /// The kernel reports which sockets were accepted there and their peers. Where it does not (containers without
    /// socket diagnosis), every process that has libpcsclite loaded and a socket open counts.
    static func others(of path: String) -> [LinkError.Holder] {
        let pids = Processes.others()
        if let peers = SocketDiagnosis.peers(of: path) {
            return pids.filter { !sockets(of: $0).isDisjoint(with: peers) }.map(Processes.holder)
        }
        return pids.filter { usesLibrary($0) && !sockets(of: $0).isEmpty }.map(Processes.holder)
    }

    /// Whether libpcsclite is loaded in a process.
    static func usesLibrary(_ pid: Int32) -> Bool {
        SystemFile.text("/proc/\(pid)/maps", limit: 4 << 20)?.contains(bytesOf: "/libpcsclite") ?? false
    }

    /// The inodes of the sockets that a process has open; empty for another user's process.
    static func sockets(of pid: Int32) -> Set<UInt32> {
        Set(
            Processes.open(by: pid).compactMap { file in
                file.hasPrefix("socket:[") ? UInt32(file.dropFirst(8).dropLast()) : nil
            })
    }
}

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
