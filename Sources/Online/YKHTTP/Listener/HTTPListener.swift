// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
public import YKTransport

/// A small server for messages delivered by POST, and for a page on this machine.
///
/// It serves at most ``connectionLimit`` connections at a time, each for five seconds and one request; more connections
/// wait in the system's queue. It does not use TLS, so messages must authenticate themselves, for example with a
/// signature.
public final class HTTPListener: Sendable {
    /// Answers a request; called on the listener's thread, which serves no other request in the meantime.
    public typealias Handler = @Sendable (IncomingRequest) -> HTTPResponse

    /// The maximum number of simultaneous connections.
    public static let connectionLimit = 64
    /// The time limit for a connection.
    static let patience = Duration.seconds(5)

    /// The URL of the listening address.
    public let url: String
    /// The port, including one chosen by the system.
    public let port: UInt16
    private let stopping = Cancellation()
    private let hasEnded = Semaphore()
    private let isAwaited = Mutex(false)

    /// Listens on an address and starts a serving thread.
    ///
    /// - Parameters:
    ///   - address: `127.0.0.1:8080` or `[::1]:8080`, numeric; with port 0 the system chooses one.
    ///   - answer: Answers a request.
    /// - Throws: `malformed`, or `failed` with the system's reason.
    public convenience init(_ address: String, answer: @escaping Handler) throws(HTTPError) {
        let (host, service) = try ListeningSocket.parts(address)
        let socket = try ListeningSocket(host, service)
        try self.init([socket], host.contains(":") ? "[\(host)]" : host, answer)
    }

    /// Listens on both loopback addresses of this machine, on a port chosen by the system; without IPv6, on the IPv4
    /// address only.
    ///
    /// - Parameter answer: Answers a request.
    /// - Throws: `failed` with the system's reason.
    public convenience init(localhost answer: @escaping Handler) throws(HTTPError) {
        for _ in 0..<16 {
            let first = try ListeningSocket("127.0.0.1", "0")
            do throws(HTTPError) {
                let second = try ListeningSocket("::1", String(first.port))
                try self.init([first, second], "localhost", answer)
                return
            } catch {
                // The port may be in use on the other address; another one is tried then.
                guard case .failed(let number, _) = error, number != Int(EADDRINUSE) else {
                    first.close()
                    continue
                }
                try self.init([first], "localhost", answer)
                return
            }
        }
        throw .failed(Int(EADDRINUSE), "no port is free at both 127.0.0.1 and ::1")
    }

    private init(_ sockets: [ListeningSocket], _ host: String, _ answer: @escaping Handler) throws(HTTPError) {
        port = sockets[0].port
        url = "http://\(host):\(port)/"
        let server = HTTPServer(sockets.map(\.descriptor), stopping, answer)
        let hasEnded = hasEnded
        let isStarted = SystemThread.start {
            server.run()
            hasEnded.post()
        }
        guard isStarted else {
            sockets.forEach { $0.close() }
            throw .failed(Int(EAGAIN), "no thread for the listener")
        }
    }

    deinit { stopping.cancel() }

    /// Stops serving within one second.
    public func stop() { stopping.cancel() }

    /// Stops serving, and returns once every pending response is written or abandoned.
    public func stopAndWait() {
        stop()
        isAwaited.withLock { isDone in
            if !isDone { hasEnded.wait() }
            isDone = true
        }
    }
}

/// A listening socket.
private struct ListeningSocket {
    let descriptor: Int32
    let port: UInt16

    static func parts(_ address: String) throws(HTTPError) -> (host: String, port: String) {
        let fault = HTTPError.malformed("'\(address)' is not ADDRESS:PORT, as in 127.0.0.1:8080")
        guard let colon = address.lastIndex(of: ":") else { throw fault }
        var host = String(address[..<colon])
        let port = String(address[address.index(after: colon)...])
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        guard !host.isEmpty, UInt16(port) != nil else { throw fault }
        return (host, port)
    }

    init(_ host: String, _ port: String) throws(HTTPError) {
        let address = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
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
        guard descriptor >= 0, bind(descriptor, entry.ai_addr, entry.ai_addrlen) == 0, listen(descriptor, 1024) == 0
        else {
            let number = errno
            if descriptor >= 0 { Glibc.close(descriptor) }
            throw .failed(Int(number), "cannot listen at \(address): \(String(cString: strerror(number)))")
        }
        self.descriptor = descriptor
        self.port = Self.port(of: descriptor)
    }

    func close() { Glibc.close(descriptor) }

    private static func port(of descriptor: Int32) -> UInt16 {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutableBytes(of: &storage) { bytes in
            guard let start = bytes.baseAddress else { return 0 }
            getsockname(descriptor, start.assumingMemoryBound(to: sockaddr.self), &size)
            // The port follows the family in both kinds of addresses, most significant byte first.
            return UInt16(bytes[2]) << 8 | UInt16(bytes[3])
        }
    }
}
