// SPDX-License-Identifier: Apache-2.0

import YKProtocols
package import YKWire

extension OpenPGPIdentity {
    /// Reads the AID (4F, §4.2.1): 16 bytes.
    package init(aid: [UInt8]) throws(WireError) {
        guard aid.count >= 14, aid.starts(with: AID.openPGP.rawValue) else {
            throw WireError(.malformed, at: 0, "not the identifier of an OpenPGP card")
        }
        version = "\(aid[6] >> 4 * 10 + aid[6] & 15).\(aid[7] >> 4 * 10 + aid[7] & 15)"
        manufacturer = UInt16(aid[8]) << 8 | UInt16(aid[9])
        serialBytes = Array(aid[10..<14])
    }
}

extension OpenPGPPINStatus {
    /// Reads the PW status bytes (C4): seven bytes.
    package init(decoding bytes: [UInt8]) throws(WireError) {
        guard bytes.count >= 7 else { throw WireError(.truncated, at: bytes.count, "the PIN status has 7 bytes") }
        signatureNeedsPIN = bytes[0] == 0
        limits = (Int(bytes[1]), Int(bytes[2]), Int(bytes[3]))
        retries = (Int(bytes[4]), Int(bytes[5]), Int(bytes[6]))
    }
}

extension OpenPGPStatus {
    /// Reads application related data (6E). Cards differ in its structure: objects of 73 may be outside it, and all but
    /// the AID, C0, C1 to C3, C4, C5 and CD may be missing.
    package init(decoding bytes: [UInt8]) throws(WireError) {
        var objects = try TLV.list(bytes)
        if let inner = objects.value(Tag.application) { objects = try TLV.list(inner) }
        if let inner = objects.value(Tag.discretionary) { objects += try TLV.list(inner) }
        identity = try OpenPGPIdentity(aid: try objects.required(Tag.applicationIdentifier, "identifier"))
        pins = try OpenPGPPINStatus(decoding: try objects.required(Tag.pinStatus, "PIN status"))
        capabilities = objects.value(Tag.extendedCapabilities) ?? []
        let historical = objects.value(Tag.historicalBytes) ?? []
        lifeCycle = Self.lifeCycle(historical)
        isGnuk = historical.starts(with: [0x00, 0x31, 0x84, 0x73, 0x80, 0x01])
        let fingerprints = try objects.required(Tag.fingerprints, "fingerprints")
        let times = try objects.required(Tag.generationTimes, "times")
        let authorities = objects.value(Tag.authorityFingerprints) ?? []
        caFingerprints = [OpenPGPSlot.signature, .decryption, .authentication].map {
            Self.entry($0, of: 20, in: authorities)
        }
        let origins = objects.value(Tag.keyInformation).map(Self.origins) ?? [:]
        var keys: [OpenPGPKeyInfo] = []
        for slot in [OpenPGPSlot.signature, .decryption, .authentication, .attestation] {
            let algorithm = objects.value(slot.attributesTag).map { OpenPGPAlgorithm(attributes: $0) }
            if slot == .attestation, algorithm == nil { continue }
            keys.append(
                OpenPGPKeyInfo(
                    slot: slot, algorithm: algorithm, fingerprint: Self.entry(slot, of: 20, in: fingerprints),
                    created: Self.entry(slot, of: 4, in: times).map { $0.reduce(0) { $0 << 8 | Int64($1) } },
                    origin: origins[slot.reference],
                    touch: objects.value(slot.touchTag)?.first.map { OpenPGPTouchPolicy(rawValue: $0) }))
        }
        self.keys = keys
    }

    /// The attributes of a slot in application related data, as they are stored.
    package static func attributes(of slot: OpenPGPSlot, in bytes: [UInt8]) throws(WireError) -> [UInt8] {
        var objects = try TLV.list(bytes)
        if let inner = objects.value(Tag.application) { objects = try TLV.list(inner) }
        if let inner = objects.value(Tag.discretionary) { objects += try TLV.list(inner) }
        return try objects.required(slot.attributesTag, "attributes of the \(slot) key")
    }

    /// The status indicator of the historical bytes (§6): the first of the last three, if their category is 00.
    private static func lifeCycle(_ historical: [UInt8]) -> UInt8? {
        historical.count >= 4 && historical[0] == 0 ? historical[historical.count - 3] : nil
    }

    /// The part of a slot; `nil` if it is missing or zero.
    private static func entry(_ slot: OpenPGPSlot, of size: Int, in bytes: [UInt8]) -> [UInt8]? {
        let start = slot.rawValue * size
        guard bytes.count >= start + size else { return nil }
        let entry = Array(bytes[start..<(start + size)])
        return entry.allSatisfy { $0 == 0 } ? nil : entry
    }

    /// Pairs of a key's reference and its state.
    private static func origins(_ bytes: [UInt8]) -> [UInt8: OpenPGPKeyOrigin] {
        var origins: [UInt8: OpenPGPKeyOrigin] = [:]
        for index in stride(from: 0, to: bytes.count - 1, by: 2) {
            origins[bytes[index]] = OpenPGPKeyOrigin(rawValue: bytes[index + 1])
        }
        return origins
    }
}

extension OpenPGPCardholder {
    /// Reads cardholder related data (65), login data (5E) and the URL (5F50).
    package init(related: [UInt8], login: [UInt8], url: [UInt8]) throws(WireError) {
        var objects = try TLV.list(related)
        if let inner = objects.value(Tag.cardholder) { objects = try TLV.list(inner) }
        name = objects.value(Tag.name).flatMap(Self.text).map(Self.spoken)
        let letters = objects.value(Tag.language) ?? []
        languages = stride(from: 0, to: letters.count - letters.count % 2, by: 2).compactMap {
            Self.text(Array(letters[$0..<($0 + 2)]))
        }
        // GnuPG stores its own data after a line feed and DC4.
        self.login = Self.text(Array(login.prefix { $0 != 0x0A }))
        self.url = Self.text(url)
    }

    /// The parts that can be read.
    init(name: String?, languages: [String], login: [UInt8], url: [UInt8]) {
        self.name = name
        self.languages = languages
        self.login = Self.text(Array(login.prefix { $0 != 0x0A }))
        self.url = Self.text(url)
    }

    /// A text in UTF-8, as GnuPG writes it, otherwise in Latin-1, which the specification requires for names (§4.3.1);
    /// `nil` if it is empty.
    private static func text(_ bytes: [UInt8]) -> String? {
        if bytes.isEmpty { return nil }
        return String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }

    /// `Surname<<Given<Name` in display order.
    private static func spoken(_ stored: String) -> String {
        let bytes = Array(stored.utf8)
        guard let place = bytes.indices.dropLast().first(where: { bytes[$0] == 0x3C && bytes[$0 + 1] == 0x3C }) else {
            return spaced(bytes[...])
        }
        let given = spaced(bytes[(place + 2)...])
        let surname = spaced(bytes[..<place])
        return given.isEmpty ? surname : given + " " + surname
    }

    private static func spaced(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes.map { $0 == 0x3C ? 0x20 : $0 }, as: UTF8.self)
    }
}
