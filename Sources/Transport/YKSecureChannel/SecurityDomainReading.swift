// SPDX-License-Identifier: Apache-2.0

package import YKProtocols
public import YKTransport
package import YKWire

/// GET DATA of a Security Domain (GlobalPlatform Card Specification 2.3.1 §11.3).
package struct GetSecurityData: CardCommand {
    package static let name = "GET DATA"
    package let apdu: APDU

    /// - Parameters:
    ///   - tag: The data object, two bytes.
    ///   - data: Selects one of several objects, if the tag requires it.
    package init(_ tag: UInt16, data: [UInt8] = []) {
        apdu = APDU(ins: SecurityDomainProtocol.Instruction.getData, parameters: tag, data: data)
    }

    package func decode(_ reader: inout ByteReader) -> [UInt8] { reader.rest() }
}

/// Information about a key of a Security Domain: the types of its components (Card Specification 2.3.1 §11.3.3.1).
public struct SCPKeyInformation: Sendable, Hashable {
    /// The key.
    public let reference: SCPKeyReference
    /// The type and length in bytes of each component, as reported by the card.
    public let components: [Component]

    /// A component of a key.
    public struct Component: Sendable, Hashable {
        /// The type: 88 AES, B0 public and B1 private key on a curve.
        public let type: UInt8
        /// The length in bytes.
        public let length: UInt8
    }

    /// Decodes the key information template, wrapped in E0 or bare; at most 128 keys.
    package static func list(_ bytes: [UInt8]) throws(WireError) -> [SCPKeyInformation] {
        var reader = ByteReader(bytes)
        if reader.peek == SecurityDomainProtocol.Tag.keyInformation {
            reader = try reader.tlv(
                TLV.Tag(rawValue: UInt32(SecurityDomainProtocol.Tag.keyInformation)), "the key information")
        }
        var keys: [SCPKeyInformation] = []
        while !reader.isAtEnd {
            var entry = try reader.tlv(0xC0, "a key")
            guard keys.count < 128 else { throw WireError(.tooLarge, at: entry.offset, "more than 128 keys") }
            let reference = SCPKeyReference(id: try entry.byte("the KID"), version: try entry.byte("the KVN"))
            var components: [Component] = []
            while !entry.isAtEnd {
                components.append(
                    Component(type: try entry.byte("a component's type"), length: try entry.byte("its length")))
            }
            keys.append(SCPKeyInformation(reference: reference, components: components))
        }
        return keys
    }
}

extension SecurityDomainProtocol {
    /// Encodes a reference to one key for the data of a command: A6 containing 83 with KID and KVN.
    package static func control(_ reference: SCPKeyReference) -> TLV {
        TLV(0xA6, TLV(0x83, reference.bytes).encoded)
    }
}
