// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// What the commands of a card application do and where their secrets are: facts shared by services, recordings, plans
/// and narration. Each conforming type also holds the application's instruction bytes and tags.
///
/// Names are shared, codecs are not: the virtual key parses commands for itself.
package protocol CardVocabulary: SendableMetatype {
    /// The application identifier used in SELECT.
    static var aid: AID { get }

    /// The secret byte ranges in the data field of a command.
    ///
    /// - Parameters:
    ///   - command: The header of the command, with this part of the data.
    ///   - data: The data known so far; for a chained command all parts up to this one.
    static func secrets(in command: APDU, data: [UInt8]) -> [Range<Int>]

    /// The secret byte ranges in the data field of a reply.
    ///
    /// - Parameters:
    ///   - reply: The reply data known so far, without the status word; for a chained reply all parts up to this one.
    ///   - command: The header of the command that it answers.
    ///   - data: All data of that command.
    static func secrets(inReply reply: [UInt8], to command: APDU, data: [UInt8]) -> [Range<Int>]

    /// Whether a command reads or changes the application.
    static func effect(of command: APDU) -> CommandEffect
}

extension CardVocabulary {
    package static func secrets(in command: APDU, data: [UInt8]) -> [Range<Int>] { [] }
    package static func secrets(inReply reply: [UInt8], to command: APDU, data: [UInt8]) -> [Range<Int>] { [] }
    package static func effect(of command: APDU) -> CommandEffect { .write(reply: nil) }
}

/// Whether a command only reads, or changes the key.
package enum CommandEffect: Hashable, Sendable {
    /// Nothing on the key changes.
    case read
    /// Something changes. `reply` is the reply to assume when the command is not sent; `nil` when none can be assumed.
    case write(reply: [UInt8]?)

    /// A change answered with 9000 and no data.
    package static let done = CommandEffect.write(reply: [0x90, 0x00])
}

/// The known card applications.
package enum CardApplication {
    /// All vocabularies.
    package static let all: [any CardVocabulary.Type] = [
        OATHProtocol.self, PIVProtocol.self, FIDOProtocol.self, OTPProtocol.self, ManagementProtocol.self,
        OpenPGPProtocol.self, HSMAuthProtocol.self, SecurityDomainProtocol.self, NDEFProtocol.self,
        CanoKeyProtocol.self,
    ]

    /// The vocabulary of an application; `nil` for one that is unknown.
    package static func vocabulary(of aid: AID?) -> (any CardVocabulary.Type)? {
        guard let aid else { return nil }
        return all.first { $0.aid == aid } ?? all.first { $0.aid.matches(aid.rawValue) }
    }
}

/// Instructions of ISO 7816-4 with the same meaning in every application.
package enum ISO7816 {
    package static let verify: UInt8 = 0x20
    package static let changeReferenceData: UInt8 = 0x24
    package static let resetRetryCounter: UInt8 = 0x2C
    package static let select: UInt8 = 0xA4
    package static let readBinary: UInt8 = 0xB0
    package static let readBinaryExtended: UInt8 = 0xB1
    package static let getResponse: UInt8 = 0xC0
    package static let updateBinary: UInt8 = 0xD6

    /// Instructions whose whole data field is a PIN or password, in any application.
    package static let secretInstructions: Set<UInt8> = [verify, changeReferenceData, resetRetryCounter]
}

/// Finds secret byte ranges in messages that may be truncated.
package enum SecretRuns {
    /// All bytes.
    package static func all(_ data: [UInt8]) -> [Range<Int>] { data.isEmpty ? [] : [0..<data.count] }

    /// All bytes from an offset on.
    package static func from(_ start: Int, _ data: [UInt8]) -> [Range<Int>] {
        data.count > start ? [start..<data.count] : []
    }

    /// The values of BER-TLV data objects with the given tags, without the first `skip` bytes of each. Where the data
    /// can no longer be read as data objects, all of the rest.
    ///
    /// - Parameters:
    ///   - start: The offset of the first data object.
    ///   - bare: A tag followed by one byte instead of a length, such as OATH's property.
    package static func values(
        of wanted: Set<UInt32>, in data: [UInt8], skipping skip: Int = 0, from start: Int = 0, bare: UInt32? = nil
    ) -> [Range<Int>] {
        var reader = ByteReader(data)
        guard (try? reader.bytes(start)) != nil else { return [] }
        var found: [Range<Int>] = []
        while !reader.isAtEnd {
            let object = reader.offset
            guard let tag = try? reader.tlvTag() else { return found + from(object, data) }
            if tag.rawValue == bare {
                _ = try? reader.byte()
                continue
            }
            guard let length = try? reader.tlvLength() else { return found + from(object, data) }
            let value = reader.offset
            let isWhole = (try? reader.bytes(length)) != nil
            let end = isWhole ? reader.offset : data.count
            if wanted.contains(tag.rawValue), end > value + skip { found.append((value + skip)..<end) }
            if !isWhole { return found }
        }
        return found
    }
}
