// SPDX-License-Identifier: Apache-2.0

import YKTransport

/// A program's connection to a virtual key in the same process.
final class VirtualKeyLink: CardLink {
    private let key: VirtualKey
    private let number: UInt64
    private var isHeld = false
    /// Whether the card was reset when it was released.
    private var wasReset = false
    var resetsOnRelease = false
    let identity: CardIdentity

    init(key: VirtualKey, number: UInt64) {
        self.key = key
        self.number = number
        let profile = key.state.profile
        identity = CardIdentity(reader: profile.model.reader, atr: profile.atr(onReader: key.isOnReader))
    }

    deinit { close() }

    func begin(deadline: Deadline) throws(LinkError) -> Bool {
        guard !isHeld else { return false }
        while true {
            if let isLost = try key.hold(number) {
                isHeld = true
                defer { wasReset = false }
                return isLost || wasReset
            }
            if deadline.isCancelled { throw .cancelled }
            if deadline.isOver { throw .busy(reader: identity.reader, holders: key.holders) }
            Pause.step(deadline)
        }
    }

    func end() {
        guard isHeld else { return }
        isHeld = false
        if resetsOnRelease {
            key.powerOff()
            wasReset = true
        }
        key.release(number)
    }

    func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        try whileHeld(deadline) { () throws(LinkError) in
            try Pause.until(deadline, "waiting for a touch") { () throws(LinkError) in
                try key.exchange(command, unless: { deadline.isCancelled })
            }
        }
    }

    func reset(_ kind: CardReset, deadline: Deadline) throws(LinkError) {
        try whileHeld(deadline) { () throws(LinkError) in key.powerOff() }
    }

    func close() { end() }

    private func whileHeld<Value>(
        _ deadline: Deadline, _ body: () throws(LinkError) -> Value
    ) throws(LinkError) -> Value {
        if isHeld { return try body() }
        _ = try begin(deadline: deadline)
        defer { end() }
        return try body()
    }
}
