// SPDX-License-Identifier: Apache-2.0

import YKHardware
import YKTransport

extension World {
    /// Has the person take the key out and insert it again, and goes on as soon as it is back; throws when another key
    /// came instead, or nothing happened in time. `fido` is the node of the key; gives the one that it has now.
    func reinsert(fido path: String, patience: Duration = .seconds(60)) async throws -> String {
        let before = try Discovery.keys(asking: false).keys
        guard let key = before.first(where: { $0.isAt(path) }) else { throw LinkError.noDevice(path: path) }
        let serial = details(of: key)?.serial ?? key.serial
        terminal.say("take the key out, then insert it again")
        let back = try await Self.comeback(
            of: key, among: before, .after(patience, cancellation: environment.cancellation))
        let now = details(of: back)?.serial ?? back.serial
        guard back.isLike(key), now == serial else { throw Self.anotherKey }
        return back.fido?.path ?? path
    }

    /// The same for a card, in a reader or as a key on the USB; gives the reader that it is in now.
    func reinsert(card reader: String, patience: Duration = .seconds(60)) async throws -> String {
        let serial = (try? details(of: reader))?.serial
        terminal.say("take the card off the reader or the key out, then put it back")
        let deadline = Deadline.after(patience, cancellation: environment.cancellation)
        var hasLeft = false
        while true {
            try deadline.check("the card to be taken off the reader and put back")
            let filled = (try? readers())?.filter(\.hasCard).map(\.name) ?? []
            if hasLeft, let back = filled.first(where: { $0 == reader }) ?? (filled.count == 1 ? filled.first : nil) {
                guard (try? details(of: back))?.serial == serial else { throw Self.anotherKey }
                return back
            }
            hasLeft = hasLeft || !filled.contains(reader)
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private static let anotherKey = Explanation(
        "another-key", .policy, "another key was inserted, nothing was done to it",
        hint: "insert the one that was taken out, and repeat the command")

    /// The key that came after this one had left, as soon as its FIDO interface may be used.
    private static func comeback(
        of key: SecurityKey, among before: [SecurityKey], _ deadline: Deadline
    ) async throws -> SecurityKey {
        var hasLeft = false
        while true {
            try deadline.check("the key to be taken out and inserted again")
            let now = try Discovery.keys(asking: false).keys
            if !hasLeft { hasLeft = !now.contains { $0.isSameDevice(as: key) } }
            let new = now.first { one in
                one.fido?.access == .readable && !before.contains { $0.place != key.place && $0.isSameDevice(as: one) }
            }
            if hasLeft, let new { return new }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}

extension SecurityKey {
    /// Whether maker, product and name are the same.
    fileprivate func isLike(_ other: SecurityKey) -> Bool {
        numbers?.vendor == other.numbers?.vendor && numbers?.product == other.numbers?.product && name == other.name
    }

    /// Whether the kernel has not numbered it anew.
    fileprivate func isSameDevice(as other: SecurityKey) -> Bool {
        place == other.place && usb?.address == other.usb?.address && fido?.sysPath == other.fido?.sysPath
    }
}
