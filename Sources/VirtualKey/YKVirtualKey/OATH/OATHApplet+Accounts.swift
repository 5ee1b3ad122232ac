// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKTransport
import YKWire

extension OATHApplet {
    /// The maximum length of a name, in bytes.
    static let nameLimit = 64

    /// LIST: the type and name of each account.
    func list(_ memory: OATHMemory) -> [UInt8] {
        memory.accounts.map { TLV(Tag.nameList, [$0.typeByte] + $0.name) }.encoded
    }

    /// PUT: adds an account, or replaces the one with the same name; 6A84 if there is no space left.
    func put(_ command: APDU, _ key: inout VirtualKeyState) throws(Refusal) {
        let new = try Self.parse(command.data) { reader throws(WireError) in try Self.account(&reader) }
        try Self.check(new, key.profile)
        // Allowed only in FIPS-approved mode, which requires an access key.
        guard !key.profile.isFIPS57 || key.oath.accessKey != nil else { throw .status(.conditionsNotSatisfied) }
        if let index = key.oath.index(of: new.name) {
            key.oath.accounts[index] = new
        } else if key.oath.accounts.count < Self.capacity(key.profile.version) {
            key.oath.accounts.append(new)
        } else {
            throw .status(.noSpace)
        }
    }

    /// DELETE: deletes an account; 6984 if no account has this name.
    func delete(_ command: APDU, _ memory: inout OATHMemory) throws(Refusal) {
        let name = try Self.parse(command.data) { reader throws(WireError) in try reader.value(Tag.name) }
        memory.accounts.remove(at: try Self.find(name, memory))
    }

    /// RENAME (firmware 5.3.1 and later): gives an account a name that no other account has.
    func rename(_ command: APDU, _ key: inout VirtualKeyState) throws(Refusal) {
        guard key.profile.version >= FirmwareVersion(5, 3, 1) else { throw .status(.unknownInstruction) }
        let (old, new) = try Self.parse(command.data) { reader throws(WireError) in
            (try reader.value(Tag.name), try reader.value(Tag.name))
        }
        guard (1...Self.nameLimit).contains(new.count) else { throw .status(.incorrectParameters) }
        let index = try Self.find(old, key.oath)
        guard key.oath.index(of: new) == nil else { throw .status(.incorrectParameters) }
        key.oath.accounts[index].name = new
    }

    static func find(_ name: [UInt8], _ memory: OATHMemory) throws(Refusal) -> Int {
        guard let index = memory.index(of: name) else { throw .status(.dataInvalid) }
        return index
    }

    /// The maximum number of accounts: 64 from firmware 5.7 on, 32 before.
    static func capacity(_ version: FirmwareVersion) -> Int { version >= FirmwareVersion(5, 7, 0) ? 64 : 32 }

    /// Parses the data of PUT: name, key, then an optional property (a tag and one byte, no length) and initial
    /// counter.
    private static func account(_ reader: inout ByteReader) throws(WireError) -> VirtualAccount {
        let name = try reader.value(Tag.name)
        var key = try reader.tlv(Tag.key, "the key")
        let type = try key.byte("type and algorithm")
        guard let kind = VirtualAccount.Kind(rawValue: type & 0xF0),
            let hash = VirtualAccount.Hash(rawValue: type & 0x0F)
        else { throw WireError(.malformed, at: key.offset - 1, "unknown type or algorithm") }
        var account = VirtualAccount(
            name: name, kind: kind, hash: hash, digits: try key.byte("digits"), secret: key.rest())
        if let tag = reader.peek, tag == Tag.property.rawValue {
            _ = try reader.byte()
            account.properties = VirtualAccount.Properties(rawValue: try reader.byte("properties"))
        }
        if !reader.isAtEnd {
            var counter = try reader.tlv(Tag.initialCounter, "the initial counter")
            account.counter = try counter.bigEndian(4, "the initial counter")
            try counter.finish("the initial counter")
        }
        return account
    }

    private static func check(_ account: VirtualAccount, _ profile: DeviceProfile) throws(Refusal) {
        let version = profile.version
        let isTouchKnown = version >= FirmwareVersion(4, 2, 6)
        let known: VirtualAccount.Properties = isTouchKnown ? [.increasing, .touch] : [.increasing]
        let isGood =
            (1...nameLimit).contains(account.name.count) && (6...8).contains(account.digits)
            && (14...account.hash.algorithm.blockSize).contains(account.secret.count)
            && account.properties.isSubset(of: known)
            && (account.hash != .sha512
                || version >= FirmwareVersion(4, 3, 1) && !(profile.isFIPS && version.major == 4))
        guard isGood else { throw .status(.incorrectParameters) }
    }
}
