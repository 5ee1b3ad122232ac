// SPDX-License-Identifier: Apache-2.0

package import YKTransport
package import YKWire

/// The management application, selected on a channel.
package final class ManagementSession {
    package let channel: CardChannel
    /// The firmware version that the reply to SELECT names.
    package let version: Version

    /// More pages than this are not read.
    private static let pageLimit = 16

    package init(_ channel: CardChannel) throws(ManagementError) {
        self.channel = channel
        let reply = try lift(ManagementError.card) { () throws(CardError) in try channel.select(.management) }
        version = try lift({ ManagementError.card(.malformed($0, during: "SELECT management")) }) {
            () throws(WireError) in
            try Self.version(in: reply)
        }
    }

    package func deviceInfo() throws(ManagementError) -> DeviceInfo {
        guard version >= Version(4, 1, 0) || version == Version(0, 0, 1) else {
            return try OlderKey.info(channel, version: version)
        }
        var objects: [TLV] = []
        var left = 1
        var page: UInt8 = 0
        while left > 0 {
            guard page < Self.pageLimit else { throw .endlessInfo }
            let read = try lift(ManagementError.card) { () throws(CardError) in try channel.send(ReadConfig(page: page))
            }
            objects += read.objects
            left = read.more.map(Int.init) ?? left - 1
            page += 1
        }
        return try lift({ ManagementError.card(.malformed($0, during: ReadConfig.name)) }) { () throws(WireError) in
            try DeviceInfo(objects, selected: version)
        }
    }

    /// The first three numbers with dots between them, in a text such as `Virtual mgr - FW version 5.7.1`.
    package static func version(in text: [UInt8]) throws(WireError) -> Version {
        let isOfVersion: (UInt8) -> Bool = { $0 == UInt8(ascii: ".") || (0x30...0x39).contains($0) }
        for word in text.split(whereSeparator: { !isOfVersion($0) }) {
            if let version = Version(String(decoding: word, as: UTF8.self)) { return version }
        }
        throw WireError(.missing, at: 0, "no version in the reply to SELECT")
    }
}
