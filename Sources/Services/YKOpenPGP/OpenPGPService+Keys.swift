// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKProtocols
import YKTransport
import YKWire

extension OpenPGPService {
    /// Timeout for generating a key; some cards need minutes for 4096-bit RSA.
    private static let generation = Duration.seconds(300)

    /// Reads the key types that a slot supports (GET DATA FA); empty on cards that do not report them.
    public func keyTypes(for slot: OpenPGPSlot) throws(OpenPGPError) -> [OpenPGPKeyType] {
        var types: [OpenPGPKeyType] = []
        for attributes in try algorithmInformation(slot) {
            guard let type = OpenPGPKeyType(OpenPGPAlgorithm(attributes: attributes)), type.fits(slot),
                !types.contains(type)
            else { continue }
            types.append(type)
        }
        return types
    }

    private func algorithmInformation(_ slot: OpenPGPSlot) throws(OpenPGPError) -> [[UInt8]] {
        try ask(Tag.algorithmInformation) { bytes throws(WireError) in
            try AlgorithmInformation(decoding: bytes).attributes[slot.attributesTag] ?? []
        }.value ?? []
    }

    /// Reads the public key of a slot (GENERATE ASYMMETRIC KEY PAIR, P1 81).
    ///
    /// - Throws: `noKey`.
    public func publicKey(_ slot: OpenPGPSlot) throws(OpenPGPError) -> PublicKey {
        let type = try type(of: slot)
        do { return try channel.send(KeyPair(slot: slot, type: type, generates: false)) } catch {
            guard case .status(let status, _) = error, Self.noKeyWords.contains(status) else { throw .card(error) }
            throw .noKey(slot)
        }
    }

    private static let noKeyWords: [StatusWord] = [
        .referenceNotFound, .memoryFailure, .conditionsNotSatisfied, .incorrectParameters,
    ]

    /// Returns the key type of a slot's attributes.
    func type(of slot: OpenPGPSlot) throws(OpenPGPError) -> OpenPGPKeyType {
        guard let algorithm = try keyInfo(slot)?.algorithm else {
            throw .unsupported("the \(slot) slot")
        }
        guard let type = OpenPGPKeyType(algorithm) else { throw .unfit(slot, "a key of an unknown type") }
        return type
    }

    /// Generates a key on the card, replacing any key in the slot, and stores the fingerprint and time, which other
    /// software needs to find the key. The admin PIN must be verified. The touch policy of a YubiKey's slot is off
    /// afterwards.
    ///
    /// - Parameter created: The time to store, in seconds since 1970, clamped to the card's four bytes; `nil` for now.
    /// - Throws: `unsupportedKey`, `pinRequired`; `keyLost` if the card refuses the new key after its type was set, which
    ///   deleted the old one; `keyUnfinished` if the key is there without its fingerprint.
    public func generateKey(
        _ slot: OpenPGPSlot, _ type: OpenPGPKeyType, created: Int64? = nil
    ) throws(OpenPGPError) -> OpenPGPPublicKey {
        if case .rsa = type, let firmware = try firmware(),
            (FirmwareVersion(4, 2, 0)..<FirmwareVersion(4, 3, 5)).contains(firmware)
        {
            throw .unsupported("generating RSA keys: those of firmware \(firmware) can be broken (ROCA)")
        }
        let present = try cardFacts()
        let wanted = try setAttributes(type, slot)
        facts = nil
        let command = KeyPair(slot: slot, type: type, generates: true)
        let key: PublicKey
        do throws(CardError) {
            let patience = max(channel.environment.timeout, Self.generation)
            let reply = try channel.transmit(
                command.apdu, deadline: .after(patience, cancellation: channel.environment.cancellation))
            guard reply.status == .ok else { throw .status(reply.status, during: KeyPair.name) }
            key = try lift({ CardError.malformed($0, during: KeyPair.name) }) { () throws(WireError) in
                var reader = ByteReader(reply.data)
                return try command.decode(&reader)
            }
        } catch { throw withdraw(try writing(error, present), slot, present, wanted) }
        return try name(key, slot, created)
    }

    /// Imports a private key into a slot, replacing any key there; see ``generateKey(_:_:created:)``.
    ///
    /// - Throws: `unsupportedKey`, `badInput`, `pinRequired`; `keyLost` also with `notStored`, if the card then has
    ///   another public key.
    public func importKey(
        _ key: PrivateKey, _ slot: OpenPGPSlot, created: Int64? = nil
    ) throws(OpenPGPError) -> OpenPGPPublicKey {
        try checkImport(of: key.publicKey, slot)
        let type = OpenPGPKeyType(key.publicKey)
        let parts: [TLV]
        let present = try cardFacts()
        let attributes = try setAttributes(type, slot)
        do { parts = try Self.parts(of: key, attributes) } catch { throw .crypto(error) }
        facts = nil
        do { try channel.send(ImportPrivateKey(slot, parts)) } catch {
            throw withdraw(try writing(error, present), slot, present, attributes)
        }
        let stored: PublicKey?
        do throws(OpenPGPError) { stored = try publicKey(slot) } catch {
            switch error {
            case .card(let cause): throw .keyUnfinished(slot, isDeleted: false, cause)
            case .noKey: stored = nil
            default: throw error
            }
        }
        guard stored == key.publicKey else {
            // No fingerprint stays beside a key that it does not belong to.
            try? forget(slot)
            throw .keyLost(slot, .notStored("the key"))
        }
        return try name(key.publicKey, slot, created)
    }

    /// Changes the attributes back that were changed for a key which the card refuses; returns the error, `keyLost` if
    /// the old key is deleted by then, as it is on most cards.
    private func withdraw(
        _ refusal: OpenPGPError, _ slot: OpenPGPSlot, _ present: OpenPGPCardFacts, _ wanted: [UInt8]
    ) -> OpenPGPError {
        switch refusal {
        case .card(.status), .pinRequired, .derivationRequired, .defaultPINs: break
        default: return refusal
        }
        guard let before = try? OpenPGPStatus.attributes(of: slot, in: present.application), before != wanted else {
            return refusal
        }
        try? put(slot.attributesTag, before)
        guard present.hasKey(in: slot) else { return refusal }
        do throws(OpenPGPError) { _ = try publicKey(slot) } catch {
            try? forget(slot)
            return .keyLost(slot, refusal)
        }
        return refusal
    }

    /// Removes fingerprint and time of a key that is no longer there.
    private func forget(_ slot: OpenPGPSlot) throws(OpenPGPError) {
        try put(
            [(slot.fingerprintTag, [UInt8](repeating: 0, count: 20)), (slot.timeTag, [0, 0, 0, 0])], after: slot,
            isDeleted: true)
    }

    /// Checks whether a key can be imported into a slot, before the admin PIN is verified.
    ///
    /// - Throws: `unsupported`, `unsupportedKey`, `badInput`.
    public func checkImport(of key: PublicKey, _ slot: OpenPGPSlot) throws(OpenPGPError) {
        guard try cardFacts().status.supportsImport else { throw .unsupported("importing keys") }
        if case .rsa(_, let exponent) = key, exponent != [1, 0, 1] {
            throw .badInput("cards accept only RSA keys with the public exponent 65537")
        }
        try Self.check(OpenPGPKeyType(key), for: slot)
    }

    private func writing(_ error: CardError, _ facts: OpenPGPCardFacts) throws(OpenPGPError) -> OpenPGPError {
        guard case .status(let status, _) = error, [.conditionsNotSatisfied, .aborted].contains(status) else {
            return .administration(error)
        }
        if facts.isGnuk, facts.status.supportsKDF, try kdf() == nil { return .derivationRequired }
        return status == .conditionsNotSatisfied && facts.isYubiKey ? .defaultPINs : .administration(error)
    }

    /// Deletes a key by changing the slot's attributes, to another type that the card lists, and restoring them. The
    /// admin PIN must be verified.
    public func deleteKey(_ slot: OpenPGPSlot) throws(OpenPGPError) {
        guard try cardFacts().status.changesAlgorithms else { throw .unsupported("deleting keys") }
        let attributes = try attributes(of: slot)
        let present = OpenPGPKeyType(OpenPGPAlgorithm(attributes: attributes))
        let usual: [OpenPGPKeyType] = [.rsa(bits: 4096), .rsa(bits: 2048)]
        let listed = try keyTypes(for: slot)
        let other = (listed.isEmpty ? usual : usual.filter(listed.contains) + listed).first { $0 != present }
        guard let other else { throw .unsupported("deleting keys") }
        _ = try setAttributes(other, slot, over: attributes)
        try put([(slot.attributesTag, attributes)], after: slot, isDeleted: true)
        try forget(slot)
    }

    /// Writes what belongs to a key that has been written or deleted.
    private func put(
        _ objects: [(TLV.Tag, [UInt8])], after slot: OpenPGPSlot, isDeleted: Bool
    ) throws(OpenPGPError) {
        facts = nil
        for (tag, value) in objects {
            do { try channel.send(PutData(tag: tag, value: value)) } catch {
                throw .keyUnfinished(slot, isDeleted: isDeleted, error)
            }
        }
    }

    private func attributes(of slot: OpenPGPSlot) throws(OpenPGPError) -> [UInt8] {
        let bytes = try cardFacts().application
        do { return try OpenPGPStatus.attributes(of: slot, in: bytes) } catch {
            throw .card(.malformed(error, during: GetData.name))
        }
    }

    /// Writes the algorithm attributes of a slot if they differ, and returns the resulting ones.
    private func setAttributes(
        _ type: OpenPGPKeyType, _ slot: OpenPGPSlot, over known: [UInt8]? = nil
    ) throws(OpenPGPError) -> [UInt8] {
        try Self.check(type, for: slot)
        let present = if let known { known } else { try attributes(of: slot) }
        // The same type: the card's attributes are kept in their own form.
        if OpenPGPKeyType(OpenPGPAlgorithm(attributes: present)) == type { return present }
        guard try cardFacts().status.changesAlgorithms else { throw .unsupportedKey(type, slot) }
        let listed = try algorithmInformation(slot)
        let wanted = type.attributes(for: slot, among: listed)
        facts = nil
        do { try channel.send(PutData(tag: slot.attributesTag, value: wanted)) } catch {
            guard case .status(let status, _) = error else { throw .administration(error) }
            let refusals: [StatusWord] = [.incorrectParameters, .wrongLength, .functionNotSupported]
            // A card that lists its types without this one may refuse it with any status word.
            let isUnlisted = !listed.isEmpty && !listed.contains(wanted) && status != .securityStatusNotSatisfied
            guard isUnlisted || refusals.contains(status) else { throw .administration(error) }
            throw .unsupportedKey(type, slot)
        }
        return wanted
    }

    /// Stores fingerprint and time of a new key.
    private func name(
        _ key: PublicKey, _ slot: OpenPGPSlot, _ created: Int64?
    ) throws(OpenPGPError) -> OpenPGPPublicKey {
        let named = OpenPGPPublicKey(key, in: slot, created: created ?? channel.environment.clock.now)
        try put(
            [(slot.fingerprintTag, named.fingerprint), (slot.timeTag, OpenPGPPublicKey.time(named.created))],
            after: slot, isDeleted: false)
        return named
    }

    /// Sets when a key requires a touch (PUT DATA D6 to D9); the admin PIN must be verified.
    ///
    /// - Throws: `touchIsFixed`; `unsupported` if the card has no such policy; `notStored`.
    public func setTouch(_ policy: OpenPGPTouchPolicy, _ slot: OpenPGPSlot) throws(OpenPGPError) {
        try checkTouch(policy, slot)
        try put(slot.touchTag, [policy.rawValue, OpenPGPProtocol.button])
        let stored: OpenPGPTouchPolicy?
        do { stored = try status().keys.first { $0.slot == slot }?.touch } catch {
            throw .unchecked("the touch policy", error)
        }
        guard stored == policy else { throw .notStored("the touch policy") }
    }

    /// Checks whether a slot accepts a touch policy, before the admin PIN is verified or a key replaced.
    ///
    /// - Parameter isNew: Whether a key is generated or imported first, which resets a fixed policy, except in the
    ///   attestation slot.
    /// - Throws: `touchIsFixed`, `unsupported`.
    public func checkTouch(
        _ policy: OpenPGPTouchPolicy, _ slot: OpenPGPSlot, isNew: Bool = false
    ) throws(OpenPGPError) {
        guard let present = try touchPolicy(slot) else {
            throw .unsupported("a touch policy for the \(slot) key")
        }
        if present.isFixed, !isNew || slot == .attestation { throw .touchIsFixed(slot) }
        if policy.rawValue > 2, try !hasAttestation() { throw .unsupported("a cached touch policy") }
    }

    /// Checks whether a slot accepts keys of a type, before the admin PIN is verified.
    ///
    /// - Throws: `unsupportedKey`.
    public static func check(_ type: OpenPGPKeyType, for slot: OpenPGPSlot) throws(OpenPGPError) {
        guard type.fits(slot) else { throw .unsupportedKey(type, slot) }
    }

    /// Stores the fingerprint of a trusted key (PUT DATA CA to CC); the admin PIN must be verified.
    ///
    /// - Parameters:
    ///   - number: The number of the fingerprint, 1 to 3.
    ///   - fingerprint: 20 bytes; `nil` removes it.
    public func setCAFingerprint(_ number: Int, _ fingerprint: [UInt8]?) throws(OpenPGPError) {
        guard (1...3).contains(number) else { throw .badInput("there are 3 CA fingerprints, numbered from 1") }
        let value = fingerprint ?? [UInt8](repeating: 0, count: 20)
        guard value.count == 20 else { throw .badInput("a fingerprint has 20 bytes, not \(value.count)") }
        try put(Tag.authorityFingerprintParts[number - 1], value)
        let stored: [UInt8]?
        do { stored = try status().caFingerprints[number - 1] } catch { throw .unchecked("the fingerprint", error) }
        guard stored == fingerprint else { throw .notStored("the fingerprint") }
    }

    /// Returns the parts of the private key template (§4.4.3.12) in the form required by the attributes.
    static func parts(of key: PrivateKey, _ attributes: [UInt8]) throws(CryptoFault) -> [TLV] {
        switch key.publicKey {
        case .rsa(let modulus, let exponent):
            let numbers = try key.remainders().map { $0.value.copyBytes() }
            let bits = attributes.count > 4 ? Int(attributes[3]) << 8 | Int(attributes[4]) : 0
            let size = max((bits + 7) / 8, exponent.count)
            var parts = [
                TLV(KeyTag.privateExponent, exponent.padded(to: min(size, 8))), TLV(KeyTag.prime1, numbers[0]),
                TLV(KeyTag.prime2, numbers[1]),
            ]
            let form = attributes.count > 5 ? attributes[5] : 0
            if form >= 2 {
                parts += [
                    TLV(KeyTag.coefficient, numbers[4]), TLV(KeyTag.remainder1, numbers[2]),
                    TLV(KeyTag.remainder2, numbers[3]),
                ]
            }
            if form & 1 != 0 { parts.append(TLV(KeyTag.privateModulus, modulus)) }
            return parts
        case .ec(_, let point): return [TLV(KeyTag.prime1, try key.scalar().value.copyBytes())] + own(point, attributes)
        case .ed25519(let point):
            return [TLV(KeyTag.prime1, try key.scalar().value.copyBytes())] + own(point, attributes)
        case .x25519(let point):
            return [TLV(KeyTag.prime1, try key.scalar().value.copyBytes().reversed())] + own(point, attributes)
        }
    }

    /// The public point, if the attributes end with FF.
    private static func own(_ point: [UInt8], _ attributes: [UInt8]) -> [TLV] {
        attributes.last == 0xFF ? [TLV(KeyTag.privatePoint, point)] : []
    }
}

/// The key types that the card supports (FA, §4.4.3.11): attributes by the tag of their slot.
struct AlgorithmInformation {
    let attributes: [TLV.Tag: [[UInt8]]]

    /// Reads the object, with or without its tag. Some firmware reports a length that is two too large.
    init(decoding bytes: [UInt8]) throws(WireError) {
        var objects: [TLV]
        if let whole = try? TLV.list(bytes) { objects = whole } else { objects = try Self.lenient(bytes) }
        if let inner = objects.value(Tag.algorithmInformation) { objects = try TLV.list(inner) }
        var attributes: [TLV.Tag: [[UInt8]]] = [:]
        for object in objects.prefix(256) {
            attributes[object.tag, default: []].append(object.value)
        }
        self.attributes = attributes
    }

    private static func lenient(_ bytes: [UInt8]) throws(WireError) -> [TLV] {
        let list = try TLV.list(bytes + [0, 0])
        guard list.count == 1, list[0].tag == Tag.algorithmInformation else {
            throw WireError(.malformed, at: 0, "algorithm information")
        }
        return [TLV(Tag.algorithmInformation, Array(list[0].value.dropLast(2)))]
    }
}
