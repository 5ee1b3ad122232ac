// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKWire

extension SecretsApplet {
    func put(_ command: APDU, _ memory: inout SecretsMemory, _ access: Access) throws(Refusal) {
        let new = try OATHApplet.parse(command.data) { reader throws(WireError) in try Self.credential(&reader) }
        guard new.kind != Kind.hmac || new.type == 0x41 && new.secret.count == 20 else {
            throw .status(.incorrectParameters)
        }
        if new.needsTouch, !new.isProtected { try access.touch(new.name) }
        guard memory.credentials.count < SecretsMemory.capacity else { throw .status(.noSpace) }
        guard memory.index(of: new.name) == nil else { throw .status(.authenticationBlocked) }
        guard [new.name, new.secret, new.login, new.password, new.metadata].allSatisfy({ $0.count <= Self.fieldLimit })
        else { throw .status(.noSpace) }
        guard new.kind != Kind.reverseHOTP || access.isAuthorized, !new.isProtected || access.isOpen else {
            throw .status(.securityStatusNotSatisfied)
        }
        memory.credentials.append(new)
    }

    /// Parses the data of PUT: name, key, then optional properties (a tag and one byte, no length), counter and fields.
    private static func credential(_ reader: inout ByteReader) throws(WireError) -> SecretsMemory.Credential {
        let name = try reader.value(Tag.name)
        var key = try reader.tlv(Tag.key, "the key")
        guard key.remaining >= 3 else { throw WireError(.malformed, at: key.offset, "an empty secret") }
        let type = try key.byte()
        guard [Kind.hotp, Kind.totp, Kind.reverseHOTP, Kind.hmac, Kind.none].contains(type & 0xF0),
            (1...3).contains(type & 0x0F)
        else { throw WireError(.malformed, at: key.offset, "unknown type or algorithm") }
        var new = SecretsMemory.Credential(name: name, type: type, digits: try key.byte(), secret: key.rest())
        if let tag = reader.peek, tag == Tag.property.rawValue {
            _ = try reader.byte()
            let properties = try reader.byte("properties")
            (new.needsTouch, new.isProtected) = (properties & 0x02 != 0, properties & 0x04 != 0)
        }
        if [Kind.hotp, Kind.reverseHOTP].contains(new.kind), let tag = reader.peek, tag == Tag.initialCounter.rawValue {
            var counter = try reader.tlv(Tag.initialCounter, "the counter")
            new.counter = try counter.uint32("the counter")
        }
        while !reader.isAtEnd {
            let field = try reader.tlv()
            guard !field.value.isEmpty else { throw WireError(.malformed, at: reader.offset, "an empty field") }
            try set(field, in: &new, at: reader.offset)
        }
        // The application keeps neither the type nor the secret of an entry without a one-time password.
        if new.kind == Kind.none { (new.type, new.digits, new.secret) = (Kind.none | 1, 6, []) }
        return new
    }

    private static func set(
        _ field: TLV, in credential: inout SecretsMemory.Credential, at offset: Int
    ) throws(WireError) {
        switch field.tag {
        case Tag.login: credential.login = field.value
        case Tag.password: credential.password = field.value
        case Tag.metadata: credential.metadata = field.value
        default: throw WireError(.malformed, at: offset, "unexpected field")
        }
    }

    func delete(_ command: APDU, _ memory: inout SecretsMemory, _ access: Access) throws(Refusal) {
        let name = try OATHApplet.parse(command.data) { reader throws(WireError) in try reader.value(Tag.name) }
        try access.touch(name)
        memory.credentials.remove(at: try access.find(name, memory))
    }

    /// LIST: type and name, in version 1 with a byte of properties. The length is always one byte.
    func list(_ command: APDU, _ memory: SecretsMemory, _ access: Access) throws(Refusal) -> [UInt8] {
        let version = command.data.first ?? 0
        let shown = memory.credentials.filter { access.isOpen || !$0.isProtected }
        guard version <= 1 || shown.isEmpty else { throw .status(.incorrectParameters) }
        return shown.flatMap { entry -> [UInt8] in
            let hasPassword = !entry.login.isEmpty || !entry.password.isEmpty
            let properties: UInt8 =
                (entry.needsTouch ? 1 : 0) | (entry.isProtected ? 2 : 0) | (hasPassword ? 4 : 0)
            return Self.object(Tag.listEntry, [entry.type] + entry.name + (version == 1 ? [properties] : []))
        }
    }

    func content(_ command: APDU, _ memory: SecretsMemory, _ access: Access) throws(Refusal) -> [UInt8] {
        let name = try OATHApplet.parse(command.data) { reader throws(WireError) in try reader.value(Tag.name) }
        let entry = memory.credentials[try access.find(name, memory)]
        try access.touch(for: entry)
        let fields = [(Tag.login, entry.login), (Tag.password, entry.password), (Tag.metadata, entry.metadata)]
        return Self.object(Tag.property, [entry.type]) + Self.object(Tag.name, entry.name)
            + fields.filter { !$0.1.isEmpty }.flatMap { Self.object($0.0, $0.1) }
    }

    private static func object(_ tag: TLV.Tag, _ value: [UInt8]) -> [UInt8] {
        tag.bytes + [UInt8(clamping: value.count)] + value
    }

    /// UPDATE CREDENTIAL: a new name, the touch, and all three fields at once if any is given.
    func update(_ command: APDU, _ memory: inout SecretsMemory, _ access: Access) throws(Refusal) {
        let (name, objects) = try OATHApplet.parse(command.data) { reader throws(WireError) in
            (try reader.value(Tag.name), try reader.tlvs())
        }
        guard !name.isEmpty else { throw .status(.incorrectParameters) }
        var fields = SecretsMemory.Credential(name: [], type: 0, digits: 0, secret: [])
        var (newName, touch, replaces): ([UInt8]?, Bool?, Bool) = (nil, nil, false)
        for object in objects {
            switch object.tag {
            case Tag.name: newName = object.value
            case Tag.property: touch = object.value.first.map { $0 & 0x02 != 0 }
            default:
                do { try Self.set(object, in: &fields, at: 0) } catch { throw .status(.incorrectParameters) }
                replaces = true
            }
        }
        try access.touch(name)
        if let newName, memory.index(of: newName) != nil { throw .status(.authenticationBlocked) }
        let index = try access.find(name, memory)
        guard memory.credentials[index].kind != Kind.reverseHOTP else { throw .status(.conditionsNotSatisfied) }
        let sizes = [newName ?? [], fields.login, fields.password, fields.metadata].map(\.count)
        guard sizes.allSatisfy({ $0 <= Self.fieldLimit }) else { throw .status(.noSpace) }
        if let newName { memory.credentials[index].name = newName }
        if let touch { memory.credentials[index].needsTouch = touch }
        guard replaces else { return }
        memory.credentials[index].login = fields.login
        memory.credentials[index].password = fields.password
        memory.credentials[index].metadata = fields.metadata
    }

    // MARK: - Codes

    func calculate(
        _ command: APDU, _ memory: inout SecretsMemory, _ access: Access
    ) throws(Refusal) -> [UInt8] {
        let (name, challenge) = try OATHApplet.parse(command.data) { reader throws(WireError) in
            (try reader.value(Tag.name), try reader.value(Tag.challenge))
        }
        let index = try access.find(name, memory)
        let entry = memory.credentials[index]
        try access.touch(for: entry)
        let response: [UInt8]
        switch entry.kind {
        case Kind.totp: response = try Self.truncated(entry, challenge)
        case Kind.hotp:
            response = try Self.truncated(entry, Self.message(entry.counter))
            guard entry.counter < .max else { throw .status(StatusWord(0x6500)) }
            memory.credentials[index].counter += 1
        default: throw .status(.conditionsNotSatisfied)
        }
        return TLV(Tag.truncatedResponse, [entry.digits] + response).encoded
    }

    /// VERIFY CODE: compares a code with those of this counter and the next nine.
    func verifyCode(
        _ command: APDU, _ memory: inout SecretsMemory, _ access: Access
    ) throws(Refusal) -> [UInt8] {
        let (name, code) = try OATHApplet.parse(command.data) { reader throws(WireError) in
            (try reader.value(Tag.name), try reader.value(Tag.response))
        }
        guard code.count == 4 else { throw .status(.incorrectParameters) }
        let given = code.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let index = try access.find(name, memory)
        let entry = memory.credentials[index]
        try access.touch(for: entry)
        guard entry.kind == Kind.reverseHOTP else { throw .status(.conditionsNotSatisfied) }
        for offset in UInt32(0)...9 {
            let (counter, overflows) = entry.counter.addingReportingOverflow(offset)
            guard !overflows, counter < .max else { throw .status(StatusWord(0x6500)) }
            let number = try Self.truncated(entry, Self.message(counter)).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let modulus = (0..<min(entry.digits, 10)).reduce(UInt64(1)) { product, _ in product * 10 }
            guard number % modulus == given else { continue }
            memory.credentials[index].counter = counter + 1
            return TLV(Tag.noResponse, []).encoded
        }
        throw .status(SecretsProtocol.verificationFailed)
    }

    private static func message(_ counter: UInt32) -> [UInt8] {
        [0, 0, 0, 0] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: counter >> $0) }
    }

    /// The four bytes of an HMAC at the offset in its last byte (RFC 4226 §5.3); SHA-512 is not supported.
    private static func truncated(
        _ entry: SecretsMemory.Credential, _ message: [UInt8]
    ) throws(Refusal) -> [UInt8] {
        let algorithm: HashAlgorithm
        switch entry.type & 0x0F {
        case 1: algorithm = .sha1
        case 2: algorithm = .sha256
        default: throw .status(.functionNotSupported)
        }
        return VirtualAccount.truncated(algorithm.hmac(key: Secret(entry.secret), message))
    }
}
