// SPDX-License-Identifier: Apache-2.0

import Foundation
import YKTestSupport

/// Something at a socket that is not a proper pcscd.
final class HostileDaemon: Sendable {
    enum Manner: Sendable {
        /// Closes every connection once something was asked: pcscd 1.9.9 with a client that polkit refuses.
        case hangsUp
        /// Speaks another version of the protocol.
        case speaksOtherVersion
        /// Answers what concerns the service, closes when asked for a card: polkit allows the one, not the other.
        case refusesCards
        /// Takes everything and says nothing.
        case saysNothing
    }

    let path: String
    private let listener: LocalSocket
    private let folder: String

    init(_ manner: Manner) throws {
        folder = NSTemporaryDirectory() + "ykit-hostile-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        path = folder + "/pcscd.comm"
        listener = try LocalSocket(listeningAt: path)
        Thread.detachNewThread { [listener] in
            while let client = listener.accept() {
                Thread.detachNewThread { Self.serve(client, manner) }
            }
        }
    }

    deinit { end() }

    func end() {
        listener.shutDown()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Messages have a header of two words, size and command; the answers end with the return code.
    private static func serve(_ client: LocalSocket, _ manner: Manner) {
        while let header = client.receive(exactly: 8), let body = client.receive(exactly: Int(header[0])) {
            let isVersion = header[4] == 0x11
            let isEstablish = header[4] == 0x01
            switch manner {
            case .hangsUp: return
            case .saysNothing: continue
            case .speaksOtherVersion:
                guard isVersion else { return }
                client.send([4, 0, 0, 0, 99, 0, 0, 0, 0x1E, 0x00, 0x10, 0x80])
            case .refusesCards:
                if isEstablish {
                    client.send([2, 0, 0, 0, UInt8.random(in: 1...255), 1, 0, 0, 0, 0, 0, 0])
                } else if isVersion || header[4] == 0x02 {
                    client.send(body.dropLast(4) + [0, 0, 0, 0])
                } else {
                    return
                }
            }
        }
    }
}
