// SPDX-License-Identifier: Apache-2.0

import YKHardware
import YKTransport
import YKWire

extension World {
    /// What there is to work with: the software key or the recording, else the keys and readers of this machine, each
    /// once; and what went less than well.
    func attachedKeys(asking isAsked: Bool) async throws -> ([ListedKey], warnings: [String]) {
        if options.virtual != nil || options.replay != nil {
            let channel = try connect()
            let identity = channel.identity
            let status = ReaderStatus(name: identity.reader, hasCard: true, atr: identity.atr)
            let key = SecurityKey(place: .reader(identity.reader), reader: status)
            return ([ListedKey(key, isAsked: isAsked, details: isAsked ? KeyDetails(channel) : nil)], [])
        }
        let limit = min(environment.timeout, .seconds(5))
        let found = try Discovery.keys(timeout: limit, cancellation: environment.cancellation)
        if let trouble = found.serviceTrouble, found.keys.isEmpty {
            guard Self.isServiceMissing(trouble) else { throw trouble }
        }
        let listed = found.keys.map { key in
            let details = isAsked && needsAsking(key) ? details(of: key) : nil
            return ListedKey(key, isAsked: isAsked, details: details)
        }
        return (ListedKey.merged(listed), warnings(found))
    }

    /// Whether a key has to be asked who it is: not when its USB descriptor says all there is to know.
    private func needsAsking(_ key: SecurityKey) -> Bool { key.serial == nil || key.numbers?.vendor == 0x1050 }

    /// Keys on the USB need no service, and its trouble matters only where there may be a card in a reader: one that is
    /// not installed or does not run is not missed.
    private func warnings(_ found: Discovery.Findings) -> [String] {
        guard let trouble = found.serviceTrouble, !Self.isServiceMissing(trouble),
            !found.keys.contains(where: { $0.usbReader != nil })
        else {
            return []
        }
        let why = Explain.link(trouble)
        return [[why.message, why.hint].compactMap(\.self).joined(separator: "; ")]
    }
}
