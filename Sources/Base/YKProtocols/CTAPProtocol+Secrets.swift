// SPDX-License-Identifier: Apache-2.0

package import YKWire

extension CTAPProtocol {
    /// The secret byte ranges of a request, as far as the request is known.
    ///
    /// clientPIN: pinUvAuthParam, newPinEnc and pinHashEnc; also the platform's public key in subcommands that request
    /// a token with permissions. hmac-secret and hmac-secret-mc: the platform's public key, saltEnc and saltAuth.
    /// credBlob and largeBlob: their values. Credential management: pinUvAuthParam.
    ///
    /// The public keys are not secret in themselves. But where the data exchanged under them stays secret for ever, a
    /// recording omits the private key, so a replay uses a different public key and every MAC under the shared secret
    /// differs; a replay must not compare any of these. The permission that makes a token persistent (pcmr) comes after
    /// the key in the message, too late for a recording, which is written as the message passes.
    package static func secrets(in message: [UInt8]) -> [Range<Int>] {
        let request = CBORPlaces(message)
        switch message.first {
        case Command.makeCredential: return inputs(request, key: MakeCredential.Request.extensions)
        case Command.getAssertion: return inputs(request, key: GetAssertion.Request.extensions)
        case Command.clientPIN: return clientPIN(request)
        case Command.credentialManagement, Command.credentialManagementPreview:
            return request.map(from: 1).list.filter { $0.isKey(CredentialManagement.Request.pinUvAuthParam) }
                .map { request.content($0.value) }
        default: return []
        }
    }

    /// The secret byte ranges of a reply, as far as the reply is known: large-blob keys, credBlob and largeBlob values, outputs of
    /// hmac-secret and hmac-secret-mc, and a signature over any of them, which would allow guessing what was signed.
    ///
    /// - Parameters:
    ///   - reply: The status byte and the map.
    ///   - message: The request that it answers.
    package static func secrets(inReply reply: [UInt8], to message: [UInt8]) -> [Range<Int>] {
        let places = CBORPlaces(reply)
        let entries = places.map(from: 1).list
        switch message.first {
        case Command.makeCredential:
            return entries.flatMap { entry in
                if entry.isKey(MakeCredential.Reply.largeBlobKey) { return [places.content(entry.value)] }
                return entry.isKey(MakeCredential.Reply.authData) ? outputs(places, places.content(entry.value)) : []
            }
        case Command.getAssertion, Command.getNextAssertion: return assertion(places, entries)
        case Command.credentialManagement, Command.credentialManagementPreview:
            return entries.filter { $0.isKey(CredentialManagement.Reply.largeBlobKey) }
                .map { places.content($0.value) }
        default: return []
        }
    }

    private static func assertion(_ places: CBORPlaces, _ entries: [CBORPlaces.Entry]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        for entry in entries {
            if entry.isKey(GetAssertion.Reply.largeBlobKey) {
                found.append(places.content(entry.value))
            } else if entry.isKey(GetAssertion.Reply.authData) {
                found += outputs(places, places.content(entry.value))
            } else if entry.isKey(GetAssertion.Reply.unsignedExtensionOutputs) {
                found += places.map(in: entry.value).list.flatMap { places.largeBlob($0, "blob") }
            } else if entry.isKey(GetAssertion.Reply.signature), !found.isEmpty {
                found.append(places.content(entry.value))
            }
        }
        return found
    }

    private static func clientPIN(_ request: CBORPlaces) -> [Range<Int>] {
        let (list, unread) = request.map(from: 1)
        let number = list.first { $0.isKey(ClientPIN.Request.subCommand) }.map { request.bytes[$0.value] }
        let tokens: [ClientPIN.Subcommand] = [
            .getPinUvAuthTokenUsingUvWithPermissions, .getPinUvAuthTokenUsingPinWithPermissions,
        ]
        let isToken = number.map { number in tokens.contains { number.elementsEqual($0.cbor.encoded) } } ?? false
        let secrets: [ClientPIN.Request] = [.pinUvAuthParam, .newPinEnc, .pinHashEnc]
        let found = list.flatMap { entry -> [Range<Int>] in
            if secrets.contains(where: entry.isKey) { return [request.content(entry.value)] }
            return isToken && entry.isKey(ClientPIN.Request.keyAgreement) ? request.point(entry.value) : []
        }
        return found + unread
    }

    /// The inputs of hmac-secret, hmac-secret-mc and credBlob in the map of extensions.
    private static func inputs(_ request: CBORPlaces, key: some CTAPKey) -> [Range<Int>] {
        guard let map = request.map(from: 1).list.first(where: { $0.isKey(key) }) else { return [] }
        return request.map(in: map.value).list.flatMap { entry -> [Range<Int>] in
            if entry.isText("hmac-secret") || entry.isText("hmac-secret-mc") {
                // A value that is not a map, such as "true", has none of them.
                return request.map(in: entry.value).list.flatMap { part -> [Range<Int>] in
                    if part.isKey(HMACSecret.saltEnc) || part.isKey(HMACSecret.saltAuth) {
                        return [request.content(part.value)]
                    }
                    return part.isKey(HMACSecret.keyAgreement) ? request.point(part.value) : []
                }
            }
            return entry.isText("credBlob") ? request.byteString(entry.value) : request.largeBlob(entry, "write")
        }
    }

    /// The outputs of extensions in authenticator data (WebAuthn L3 §6.1): a hash of 32 bytes, the flags, a counter of
    /// 4 bytes, the attested credential if the flags indicate one, and the map.
    private static func outputs(_ reply: CBORPlaces, _ range: Range<Int>) -> [Range<Int>] {
        guard range.count > 37 else { return [] }
        let flags = reply.bytes[range.lowerBound + 32]
        var start = range.lowerBound + 37
        if flags & 0x40 != 0 {
            guard range.upperBound - start >= 18 else { return [] }
            start += 18 + (Int(reply.bytes[start + 16]) << 8 | Int(reply.bytes[start + 17]))
            guard start < range.upperBound else { return [] }
            var cursor = CBORCursor(reply.bytes, from: start, to: range.upperBound)
            guard (try? cursor.skip()) != nil else { return [] }
            start = cursor.position
        }
        guard flags & 0x80 != 0, start < range.upperBound else { return [] }
        return reply.map(in: start..<range.upperBound).list.flatMap { entry in
            ["hmac-secret", "hmac-secret-mc", "credBlob"].contains(where: entry.isText)
                ? reply.byteString(entry.value) : []
        }
    }
}

/// Locates values in encoded CBOR that may be truncated.
private struct CBORPlaces {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// A map entry, as far as it is known.
    struct Entry {
        enum Key {
            case int(Int64)
            case text(ArraySlice<UInt8>)
            case other
        }

        let key: Key
        let value: Range<Int>

        func isInt(_ number: Int64) -> Bool { if case .int(number) = key { true } else { false } }
        func isKey(_ key: some CTAPKey) -> Bool { isInt(key.rawValue) }
        func isText(_ name: String) -> Bool {
            if case .text(let text) = key { text.elementsEqual(name.utf8) } else { false }
        }
    }

    func map(from start: Int) -> (list: [Entry], unread: [Range<Int>]) {
        map(in: min(start, bytes.count)..<bytes.count)
    }

    /// The entries of the map in a range, the last of which may be truncated, and the unreadable rest.
    func map(in range: Range<Int>) -> (list: [Entry], unread: [Range<Int>]) {
        var cursor = CBORCursor(bytes, from: range.lowerBound, to: range.upperBound)
        guard let head = try? cursor.head(), head.major == 5 else { return ([], range.isEmpty ? [] : [range]) }
        var list: [Entry] = []
        var left = head.isIndefinite ? UInt64.max : head.argument
        while left > 0, !cursor.isAtEnd {
            left -= 1
            let place = cursor.position
            guard let key = key(&cursor) else { return (list, [place..<range.upperBound]) }
            let value = cursor.position
            let isWhole = (try? cursor.skip()) != nil
            list.append(Entry(key: key, value: value..<(isWhole ? cursor.position : range.upperBound)))
            if !isWhole { return (list, []) }
        }
        return (list, [])
    }

    private func key(_ cursor: inout CBORCursor) -> Entry.Key? {
        let start = cursor.position
        guard let head = try? cursor.head(), !head.isBreak else { return nil }
        if head.major <= 1 {
            guard let number = Int64(exactly: head.argument) else { return nil }
            return .int(head.major == 0 ? number : ~number)
        }
        let content = cursor.position
        cursor = CBORCursor(bytes, from: start, to: cursor.end)
        guard (try? cursor.skip()) != nil else { return nil }
        return head.major == 3 && !head.isIndefinite ? .text(bytes[content..<cursor.position]) : .other
    }

    /// A value without its head, so that the rest can still be read as CBOR; the whole value when it is not a byte
    /// string.
    func content(_ range: Range<Int>) -> Range<Int> {
        var cursor = CBORCursor(bytes, from: range.lowerBound, to: range.upperBound)
        guard let head = try? cursor.head(), head.major == 2 else { return range }
        return cursor.position..<max(cursor.position, range.upperBound)
    }

    /// The content of a byte string; empty for other values.
    func byteString(_ range: Range<Int>) -> [Range<Int>] {
        var cursor = CBORCursor(bytes, from: range.lowerBound, to: range.upperBound)
        guard let head = try? cursor.head(), head.major == 2 else { return [] }
        return [content(range)]
    }

    /// A byte string in the input or output of largeBlob; empty for other extensions.
    func largeBlob(_ entry: Entry, _ name: String) -> [Range<Int>] {
        guard entry.isText("largeBlob") else { return [] }
        return map(in: entry.value).list.filter { $0.isText(name) }.flatMap { byteString($0.value) }
    }

    /// The coordinates of a COSE key (-2, -3).
    func point(_ range: Range<Int>) -> [Range<Int>] {
        map(in: range).list.filter { $0.isInt(-2) || $0.isInt(-3) }.map { content($0.value) }
    }
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
        of wanted: Set<TLV.Tag>, in data: [UInt8], skipping skip: Int = 0, from start: Int = 0, bare: TLV.Tag? = nil
    ) -> [Range<Int>] {
        var reader = ByteReader(data)
        guard (try? reader.bytes(start)) != nil else { return [] }
        var found: [Range<Int>] = []
        while !reader.isAtEnd {
            let object = reader.offset
            guard let tag = try? reader.tlvTag() else { return found + from(object, data) }
            if tag == bare {
                _ = try? reader.byte()
                continue
            }
            guard let length = try? reader.tlvLength() else { return found + from(object, data) }
            let value = reader.offset
            let isWhole = (try? reader.bytes(length)) != nil
            let end = isWhole ? reader.offset : data.count
            if wanted.contains(tag), end > value + skip { found.append((value + skip)..<end) }
            if !isWhole { return found }
        }
        return found
    }
}
