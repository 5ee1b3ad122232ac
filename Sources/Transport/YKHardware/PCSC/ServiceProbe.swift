// SPDX-License-Identifier: Apache-2.0

import Glibc
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
        let found = getenv("PATH").map { String(cString: $0) } ?? ""
        let folders = found.split(separator: ":").map(String.init) + ["/usr/sbin", "/sbin", "/usr/local/sbin"]
        return folders.map { "\($0)/pcscd" }.first { access($0, X_OK) == 0 }
    }
}

extension ByteReader {
    /// A number of four bytes in the machine's byte order.
    fileprivate mutating func nativeWord() throws(WireError) -> UInt32 {
        let bytes = try bytes(4)
        return bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
    }
}
