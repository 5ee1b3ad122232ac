// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKTransport

/// A small server for messages that are delivered by POST: it reads a body of up to 64 KiB and answers at once.
///
/// It serves at most ``connectionLimit`` connections at a time, each for five seconds, one request each; what is beyond
/// waits in the system's queue. It does not use TLS, so what is delivered has to prove itself, as by a signature.
public final class HTTPListener: Sendable {
    /// The most connections that are served at a time.
    public static let connectionLimit = 64
    /// How long a connection may take.
    static let patience = Duration.seconds(5)
    /// How long, and for how many bytes, the rest of a refused request is read, so that the refusal reaches its sender.
    private static let linger = (time: Duration.seconds(1), bytes: 256 << 10)

    /// The address as a URL.
    public let url: String
    /// The port, also where the system chose it.
    public let port: UInt16
    private let stopping: Cancellation

    /// Listens at an address and starts a thread that serves.
    ///
    /// - Parameters:
    ///   - address: `127.0.0.1:8080` or `[::1]:8080`, numeric; port 0 has the system choose one.
    ///   - take: Takes a body on that thread. `false` when there is no room for it: the sender is told to try again (503).
    /// - Throws: `malformed`, or `failed` with the system's reason.
    public init(_ address: String, take: @escaping @Sendable ([UInt8]) -> Bool) throws(HTTPError) {
        let (host, service) = try Self.parts(address)
        let descriptor = try Self.listen(host, service, address)
        port = Self.port(of: descriptor)
        url = "http://" + (host.contains(":") ? "[\(host)]" : host) + ":\(port)/"
        stopping = Cancellation()
        let server = Server(descriptor: descriptor, stopping: stopping, take: take)
        guard SystemThread.start({ server.run() }) else {
            close(descriptor)
            throw .failed(Int(EAGAIN), "no thread for the listener")
        }
    }

    deinit { stopping.cancel() }

    /// Stops serving within a second.
    public func stop() { stopping.cancel() }

    private static func parts(_ address: String) throws(HTTPError) -> (host: String, port: String) {
        let fault = HTTPError.malformed("'\(address)' is not ADDRESS:PORT, as in 127.0.0.1:8080")
        guard let colon = address.lastIndex(of: ":") else { throw fault }
        var host = String(address[..<colon])
        let port = String(address[address.index(after: colon)...])
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        guard !host.isEmpty, UInt16(port) != nil else { throw fault }
        return (host, port)
    }

    private static func listen(_ host: String, _ port: String, _ address: String) throws(HTTPError) -> Int32 {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, port, &hints, &list) == 0, let entry = list?.pointee else {
            throw .malformed("'\(address)' is not ADDRESS:PORT, as in 127.0.0.1:8080")
        }
        defer { freeaddrinfo(list) }
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(entry.ai_family, kind, 0)
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        guard descriptor >= 0, bind(descriptor, entry.ai_addr, entry.ai_addrlen) == 0,
            Glibc.listen(descriptor, 1024) == 0
        else {
            let number = errno
            if descriptor >= 0 { close(descriptor) }
            throw .failed(Int(number), "cannot listen at \(address): \(String(cString: strerror(number)))")
        }
        return descriptor
    }

    private static func port(of descriptor: Int32) -> UInt16 {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutableBytes(of: &storage) { bytes in
            guard let start = bytes.baseAddress else { return 0 }
            getsockname(descriptor, start.assumingMemoryBound(to: sockaddr.self), &size)
            // The port stands behind the family in both kinds of addresses, most significant byte first.
            return UInt16(bytes[2]) << 8 | UInt16(bytes[3])
        }
    }

    /// A connection, from its first byte to its end.
    private struct Connection {
        let descriptor: Int32
        var request = IncomingRequest()
        var deadline: Deadline
        /// How many more bytes are thrown away before the connection is closed; `nil` while the request is read.
        var rest: Int?
    }

    /// What the thread has.
    private final class Server: Sendable {
        private let descriptor: Int32
        private let stopping: Cancellation
        private let take: @Sendable ([UInt8]) -> Bool

        init(descriptor: Int32, stopping: Cancellation, take: @escaping @Sendable ([UInt8]) -> Bool) {
            (self.descriptor, self.stopping, self.take) = (descriptor, stopping, take)
        }

        func run() {
            var connections: [Connection] = []
            while !stopping.isCancelled {
                var entries = connections.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
                let isFull = connections.count >= HTTPListener.connectionLimit
                if !isFull { entries.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)) }
                poll(&entries, nfds_t(entries.count), connections.isEmpty ? 500 : 100)
                var kept: [Connection] = []
                for (connection, entry) in zip(connections, entries) {
                    let next = entry.revents != 0 ? serve(connection) : connection
                    if let next, !next.deadline.isOver { kept.append(next) } else { close(connection.descriptor) }
                }
                connections = kept
                if !isFull, entries.last?.revents != 0 { accept(into: &connections) }
            }
            connections.forEach { close($0.descriptor) }
            close(descriptor)
        }

        private func accept(into connections: inout [Connection]) {
            while connections.count < HTTPListener.connectionLimit {
                let client = Glibc.accept(descriptor, nil, nil)
                guard client >= 0 else { return }
                _ = fcntl(client, F_SETFD, FD_CLOEXEC)
                _ = fcntl(client, F_SETFL, O_NONBLOCK)
                connections.append(Connection(descriptor: client, deadline: .after(HTTPListener.patience)))
            }
        }

        /// Reads what is there; `nil` when the connection is done.
        private func serve(_ connection: Connection) -> Connection? {
            var connection = connection
            var block = [UInt8](repeating: 0, count: 16 << 10)
            let count = recv(connection.descriptor, &block, block.count, 0)
            guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) ? connection : nil }
            if let rest = connection.rest {
                connection.rest = rest - count
                return rest > count ? connection : nil
            }
            switch connection.request.take(block[..<count]) {
            case .more: return connection
            case .complete(let body): return answer(take(body) ? 200 : 503, connection)
            case .refused(let status): return answer(status, connection)
            }
        }

        /// Answers, and waits for the other side to close.
        private func answer(_ status: Int, _ connection: Connection) -> Connection? {
            let again = status == 503 ? "Retry-After: 1\r\n" : ""
            let text =
                "HTTP/1.1 \(status) \(Self.reason(status))\r\n\(again)Content-Length: 0\r\nConnection: close\r\n\r\n"
            let bytes = Array(text.utf8)
            guard send(connection.descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
                return nil
            }
            shutdown(connection.descriptor, Int32(SHUT_WR))
            var connection = connection
            connection.request = IncomingRequest()
            connection.rest = HTTPListener.linger.bytes
            connection.deadline = .after(HTTPListener.linger.time)
            return connection
        }

        private static func reason(_ status: Int) -> String {
            switch status {
            case 200: "OK"
            case 405: "Method Not Allowed"
            case 411: "Length Required"
            case 413: "Content Too Large"
            case 431: "Request Header Fields Too Large"
            case 501: "Not Implemented"
            case 503: "Service Unavailable"
            default: "Bad Request"
            }
        }
    }
}
