// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKCrypto
import YKTestSupport
import YKTransport
import YKWire

/// A key that answers with a list of replies, one after the other, and keeps what it was asked.
final class ScriptedKey: FIDOLink {
    /// What a key was asked; it is looked at while a service has the key.
    final class Log: Sendable {
        private let state = Mutex<[[UInt8]]>([])
        var messages: [[UInt8]] { state.withLock { $0 } }
        func add(_ message: [UInt8]) { state.withLock { $0.append(message) } }

        /// Messages that carry a PIN: clientPIN changePIN, getPinToken and its successor.
        var tries: Int {
            messages.count { message in
                guard message.first == 0x06, let map = (try? CBOR(decoding: Array(message.dropFirst())))?.map else {
                    return false
                }
                return map[6] != nil
            }
        }
    }

    let environment: ServiceEnvironment
    let generation = 0
    let log: Log
    var profile = FIDOLinkProfile(carrier: .hid, hasCTAP2: true, hasU2F: true)
    private var replies: [@Sendable ([UInt8]) -> [UInt8]]

    init(
        _ replies: [@Sendable ([UInt8]) -> [UInt8]], log: Log = Log(), environment: ServiceEnvironment = .instant
    ) {
        self.replies = replies.reversed()
        self.log = log
        self.environment = environment
    }

    convenience init(_ replies: [[UInt8]], log: Log = Log()) {
        self.init(replies.map { reply in { _ in reply } }, log: log)
    }

    /// A key whose last reply is given for ever.
    var isEndless = false

    func call(
        _ command: CTAPHID.Command, _ payload: [UInt8], deadline: Deadline, keepalive: (FIDOKeepalive) -> Void
    ) throws(FIDOLinkError) -> [UInt8] {
        log.add(payload)
        if isEndless, replies.count == 1 { return replies[0](payload) }
        guard let reply = replies.popLast() else { throw .device(.removed) }
        return reply(payload)
    }

    func rest() {}
    func close() {}
}

extension CBOR {
    /// An answer with status 00 and this item.
    var reply: [UInt8] { [0x00] + encoded }
}
