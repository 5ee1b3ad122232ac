// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// A message from vpcd, the virtual reader of vsmartcard: one byte for a power command, or a command APDU.
enum VPCDMessage: Hashable, Sendable {
    case powerOff
    case powerOn
    case reset
    case answerToReset
    case command([UInt8])
    /// An unknown single byte; it needs no answer.
    case unknown

    init(_ bytes: [UInt8]) {
        self =
            switch bytes {
            case [0]: .powerOff
            case [1]: .powerOn
            case [2]: .reset
            case [4]: .answerToReset
            default: bytes.count > 1 ? .command(bytes) : .unknown
            }
    }

    /// Encodes a message: two bytes of length, most significant first, then the bytes.
    static func frame(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8(truncatingIfNeeded: bytes.count >> 8), UInt8(truncatingIfNeeded: bytes.count)] + bytes
    }
}

/// Assembles messages from a stream of bytes, however it is split.
struct VPCDAssembler: Sendable {
    private var buffer: [UInt8] = []

    /// Adds the bytes received and returns the messages that are now complete.
    mutating func feed(_ bytes: some Sequence<UInt8>) -> [VPCDMessage] {
        buffer += bytes
        var messages: [VPCDMessage] = []
        while buffer.count >= 2 {
            let length = Int(buffer[0]) << 8 | Int(buffer[1])
            guard buffer.count >= 2 + length else { break }
            messages.append(VPCDMessage(Array(buffer[2..<(2 + length)])))
            buffer.removeFirst(2 + length)
        }
        return messages
    }
}

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

/// Why the virtual key is not in vpcd's reader.
public enum VPCDError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The host name cannot be resolved.
    case unknownHost(String)
    /// Nothing listens at the address, or it could not be reached.
    case notReachable(VPCDAddress, errno: Int32, String)
    /// The reader is gone because the smart card service has stopped.
    case readerGone(VPCDAddress)

    /// What happened and what to check, in one line.
    public var description: String {
        switch self {
        case .unknownHost(let host): "cannot resolve host \(host)"
        case .notReachable(let address, _, let reason):
            "no virtual reader at \(address): \(reason); is pcscd running, with the vpcd driver (vsmartcard-vpcd)?"
        case .readerGone(let address): "the virtual reader at \(address) is gone"
        }
    }
}
