// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKTransport

/// The loop of a listener's thread: it polls the sockets and all connections, and never blocks on a single one.
final class HTTPServer: Sendable {
    private let sockets: [Int32]
    private let stopping: Cancellation
    private let answer: HTTPListener.Handler

    /// The limits in time and bytes for draining a refused request, so that the refusal reaches its sender.
    private static let linger = (time: Duration.seconds(1), bytes: 256 << 10)

    /// A connection from its first byte to its end.
    private struct Connection {
        let descriptor: Int32
        var deadline = Deadline.after(HTTPListener.patience)
        var state = State.reading(IncomingRequestReader())
    }

    private enum State {
        /// The request is read.
        case reading(IncomingRequestReader)
        /// These bytes of the response remain to be written.
        case writing(ArraySlice<UInt8>)
        /// The client should close; this many more bytes are discarded.
        case closing(Int)
    }

    init(_ sockets: [Int32], _ stopping: Cancellation, _ answer: @escaping HTTPListener.Handler) {
        (self.sockets, self.stopping, self.answer) = (sockets, stopping, answer)
    }

    /// Serves until it is told to stop and all pending responses are written.
    func run() {
        var connections: [Connection] = []
        while !stopping.isCancelled || connections.contains(where: Self.isWriting) {
            var entries = connections.map { connection in
                pollfd(
                    fd: connection.descriptor, events: Int16(Self.isWriting(connection) ? POLLOUT : POLLIN), revents: 0)
            }
            let isOpen = connections.count < HTTPListener.connectionLimit && !stopping.isCancelled
            if isOpen { entries += sockets.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) } }
            poll(&entries, nfds_t(entries.count), connections.isEmpty ? 500 : 100)
            var kept: [Connection] = []
            for (connection, entry) in zip(connections, entries) {
                let next = entry.revents != 0 ? serve(connection) : connection
                if let next, !next.deadline.isOver { kept.append(next) } else { close(connection.descriptor) }
            }
            if isOpen {
                for entry in entries.dropFirst(connections.count) where entry.revents != 0 { accept(entry.fd, &kept) }
            }
            connections = kept
        }
        connections.forEach { close($0.descriptor) }
        sockets.forEach { close($0) }
    }

    private static func isWriting(_ connection: Connection) -> Bool {
        if case .writing = connection.state { true } else { false }
    }

    private func accept(_ socket: Int32, _ connections: inout [Connection]) {
        while connections.count < HTTPListener.connectionLimit {
            let client = Glibc.accept(socket, nil, nil)
            guard client >= 0 else { return }
            _ = fcntl(client, F_SETFD, FD_CLOEXEC)
            _ = fcntl(client, F_SETFL, O_NONBLOCK)
            connections.append(Connection(descriptor: client))
        }
    }

    /// Reads or writes as much as possible without blocking; `nil` when the connection is done.
    private func serve(_ connection: Connection) -> Connection? {
        if case .writing(let rest) = connection.state { return write(rest, connection) }
        var block = [UInt8](repeating: 0, count: 16 << 10)
        let count = recv(connection.descriptor, &block, block.count, 0)
        guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) ? connection : nil }
        var connection = connection
        switch connection.state {
        case .reading(var reader):
            let step = reader.take(block[..<count])
            switch step {
            case .more: connection.state = .reading(reader)
            case .complete(let request): return write(Self.bytes(answer(request))[...], connection)
            case .refused(let status): return write(Self.bytes(HTTPResponse(status: status))[...], connection)
            }
        case .closing(let rest):
            guard rest > count else { return nil }
            connection.state = .closing(rest - count)
        case .writing: break
        }
        return connection
    }

    /// Writes what fits, and afterwards waits for the other side to close.
    private func write(_ bytes: ArraySlice<UInt8>, _ connection: Connection) -> Connection? {
        var connection = connection
        let count = bytes.withUnsafeBytes { send(connection.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        guard count >= 0 || errno == EAGAIN || errno == EINTR else { return nil }
        let rest = bytes.dropFirst(max(0, count))
        guard rest.isEmpty else {
            connection.state = .writing(rest)
            return connection
        }
        shutdown(connection.descriptor, Int32(SHUT_WR))
        connection.state = .closing(Self.linger.bytes)
        connection.deadline = .after(Self.linger.time)
        return connection
    }

    /// An answer as it is sent (RFC 9112 §4, §9.6).
    private static func bytes(_ response: HTTPResponse) -> [UInt8] {
        var head = "HTTP/1.1 \(response.status) \(reason(response.status))\r\n"
        for field in response.fields where field.isSound { head += "\(field.name): \(field.value)\r\n" }
        head += "Content-Length: \(response.body.count)\r\nConnection: close\r\n\r\n"
        return Array(head.utf8) + response.body
    }

    private static func reason(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 409: "Conflict"
        case 411: "Length Required"
        case 413: "Content Too Large"
        case 415: "Unsupported Media Type"
        case 431: "Request Header Fields Too Large"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        default: "Bad Request"
        }
    }
}
