// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import YKTestSupport

/// A server on this machine that answers each connection with the next of its answers, whatever is asked.
final class LocalServer: Sendable {
    /// What is done with a connection once its request is there.
    typealias Answer = @Sendable (LocalSocket) -> Void

    private let socket: LocalSocket
    private let requests = Requests()

    init(_ answers: [Answer]) throws {
        socket = try LocalSocket(listeningOn: 0x7F00_0001)
        Thread.detachNewThread { [socket, requests] in
            for answer in answers {
                guard let client = socket.accept() else { return }
                let request = Self.request(client)
                requests.all.withLock { $0.append(request) }
                answer(client)
                client.shutDown()
            }
        }
    }

    /// Answers with texts.
    convenience init(_ texts: String...) throws {
        try self.init(texts.map { text in { $0.send(Array(text.utf8)) } })
    }

    deinit { socket.shutDown() }

    var base: String { "http://127.0.0.1:\(socket.port)" }
    /// What was asked, header and body.
    var asked: [String] { requests.all.withLock { $0 } }

    private final class Requests: Sendable {
        let all = Mutex<[String]>([])
    }

    private static func request(_ client: LocalSocket) -> String {
        var text = ""
        while true {
            let more = client.receive(upTo: 65_536)
            if more.first == 0x16 { return "TLS" }
            text += String(decoding: more, as: UTF8.self)
            guard !more.isEmpty, let end = text.range(of: "\r\n\r\n") else {
                if more.isEmpty { return text }
                continue
            }
            let length = text.split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
            let wanted = length.flatMap { Int($0.dropFirst(16)) } ?? 0
            if text[end.upperBound...].utf8.count >= wanted { return text }
        }
    }
}
