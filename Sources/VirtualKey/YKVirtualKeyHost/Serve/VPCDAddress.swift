// SPDX-License-Identifier: Apache-2.0

import YKVirtualKey
public import YKWire

/// The address on which vpcd listens.
public struct VPCDAddress: Hashable, Sendable, CustomStringConvertible {
    /// A host name or address.
    public var host: String
    /// A TCP port.
    public var port: UInt16

    /// Creates an address; by default that of vpcd's first slot on this machine.
    public init(host: String = "127.0.0.1", port: UInt16 = 35963) {
        self.host = host
        self.port = port
    }

    /// Parses `HOST:PORT`, `HOST`, `:PORT` or `[IPV6]:PORT`; an empty string is the default address.
    ///
    /// - Throws: `malformed` with the offset of the invalid part.
    public init(parsing text: String) throws(WireError) {
        self.init()
        var rest = text[...]
        if rest.first == "[" {
            guard let end = rest.firstIndex(of: "]") else {
                throw WireError(.malformed, at: text.utf8.count, "expected ] after the address")
            }
            host = String(rest[rest.index(after: rest.startIndex)..<end])
            rest = rest[rest.index(after: end)...]
        } else {
            let name = rest.prefix { $0 != ":" }
            if !name.isEmpty { host = String(name) }
            rest = rest.dropFirst(name.count)
        }
        guard !rest.isEmpty else { return }
        guard rest.first == ":", let number = UInt16(rest.dropFirst()), number > 0 else {
            throw WireError(.malformed, at: text.utf8.count - rest.utf8.count, "expected a port, 1 to 65535, after :")
        }
        port = number
    }

    /// The host and port.
    public var description: String { host.contains(bytesOf: ":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
