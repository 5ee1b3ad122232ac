// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKProtocols
public import YKSecureChannel
public import YKTransport
import YKWire
import YKX509

/// The Security Domain of a key: it holds the keys of secure channels to all applications.
///
/// Reading requires no channel. Changes require one that authenticates the host, SCP03 or SCP11a: open the channel with
/// `CardChannel.protect(with:)` first. Every method runs a whole exchange with the key on the service's
/// own thread; concurrent calls never interleave.
public actor SecurityDomainService: CardKeyService {
    /// The runtime of the service.
    public nonisolated let runtime: ServiceRuntime
    private let channel: CardChannel

    private init(_ channel: sending CardChannel, _ runtime: ServiceRuntime) {
        self.channel = channel
        self.runtime = runtime
    }

    /// Selects the application, and opens the secure channel if requested.
    ///
    /// - Throws: `card(.appletMissing)` if the key has none, `card(.secureChannel)`.
    public static func open(_ channel: sending CardChannel) async throws(SecurityDomainError) -> SecurityDomainService {
        let (runtime, selected) = try await ServiceRuntime.open(card: channel, SecurityDomainError.card) {
            channel throws(SecurityDomainError) in
            do throws(CardError) { _ = try channel.select(.securityDomain) } catch { throw .card(error) }
            return channel
        }
        return SecurityDomainService(selected, runtime)
    }

    /// Lets other programs use the card until the next operation.
    public func rest() { channel.rest() }
    /// The number of exchanges with the card.
    public var statistics: ServiceStatistics { ServiceStatistics(exchanges: channel.exchanges) }
    /// Closes the connection to the card.
    public func close() { channel.close() }

    // MARK: - Reading

    /// Returns the keys in the card's order; an SCP03 set has three entries, KID 01 to 03.
    public func keys() throws(SecurityDomainError) -> [SCPKeyInformation] {
        let data = try data(SecurityDomainProtocol.Tag.keyInformationObject)
        return try decoded { () throws(WireError) in try SCPKeyInformation.list(data) }
    }

    /// Returns the channel protocols that the card supports, from its recognition data (Card Specification 2.3.1 §H.2).
    public func protocols() throws(SecurityDomainError) -> [SCPProtocol] {
        let data = try data(SecurityDomainProtocol.Tag.cardRecognition)
        return try decoded { () throws(WireError) in try SCPProtocol.list(data) }
    }

    /// The subject key identifiers of the CAs of host certificates (KLOC) or of the card's own (KLCC), by key.
    public func authorities(ofCard isCards: Bool) throws(SecurityDomainError) -> [SCPKeyReference: [UInt8]] {
        let tag = isCards ? SecurityDomainProtocol.Tag.cardAuthorities : SecurityDomainProtocol.Tag.hostAuthorities
        guard let data = try dataOrNone(tag) else { return [:] }
        return try decoded { () throws(WireError) in try Self.authorities(data) }
    }

    private static func authorities(_ data: [UInt8]) throws(WireError) -> [SCPKeyReference: [UInt8]] {
        var reader = ByteReader(data)
        var found: [SCPKeyReference: [UInt8]] = [:]
        while !reader.isAtEnd {
            var identifier = try reader.tlv(0x42, "a key identifier")
            var reference = try reader.tlv(0x83, "a key reference")
            found[SCPKeyReference(id: try reference.byte("the KID"), version: try reference.byte("the KVN"))] =
                identifier.rest()
        }
        return found
    }

    /// Returns the certificates of a private key, DER, leaf last; empty if there are none.
    public func certificates(of key: SCPKeyReference) throws(SecurityDomainError) -> [[UInt8]] {
        let control = SecurityDomainProtocol.control(key).encoded
        guard let data = try dataOrNone(SecurityDomainProtocol.Tag.certificates, control) else { return [] }
        return try decoded { () throws(WireError) in try X509Certificate.split(data) }
    }

    /// Reads a data object unchanged (GET DATA).
    ///
    /// - Parameters:
    ///   - tag: Two bytes.
    ///   - data: Selects one of several objects, if required.
    public func data(_ tag: UInt16, _ data: [UInt8] = []) throws(SecurityDomainError) -> [UInt8] {
        do { return try channel.send(GetSecurityData(tag, data: data)) } catch { throw .card(error) }
    }

    private func dataOrNone(_ tag: UInt16, _ data: [UInt8] = []) throws(SecurityDomainError) -> [UInt8]? {
        do { return try self.data(tag, data) } catch {
            guard case .card(.status(.referenceNotFound, _)) = error else { throw error }
            return nil
        }
    }

    private func decoded<Value>(_ body: () throws(WireError) -> Value) throws(SecurityDomainError) -> Value {
        do { return try body() } catch { throw .card(.malformed(error, during: GetSecurityData.name)) }
    }

    // MARK: - Keys

    /// Creates a key pair for SCP11 in the card (GENERATE KEY).
    ///
    /// - Parameters:
    ///   - key: KID 11, 13 or 15 and a version from 1 to 7F.
    ///   - version: The version of a key of this KID that is replaced, 0 for none.
    /// - Returns: The public key: 04, x, y.
    public func generate(
        _ key: SCPKeyReference, replacing version: UInt8 = 0
    ) throws(SecurityDomainError) -> [UInt8] {
        try key.require(.privateKey)
        try requireHost()
        return try send(GenerateSecurityKey(key, replacing: version), key)
    }

    /// Stores an SCP03 set (PUT KEY). Storing the first custom set deletes the factory set.
    ///
    /// - Throws: `badKey` for a set without DEK, `wrongCheckValue`.
    public func put(
        _ keys: SCP03Keys, as key: SCPKeyReference, replacing version: UInt8 = 0
    ) throws(SecurityDomainError) {
        try key.require(.set)
        guard let dataEncryption = keys.dataEncryption else {
            throw .badKey("storing an SCP03 set requires all three keys, ENC:MAC:DEK")
        }
        let parts = [keys.encryption, keys.mac, dataEncryption]
        try put(key) { wrapping throws(CryptoFault) in
            try PutSecurityKey.set(key, parts, replacing: version, under: wrapping)
        }
    }

    /// Stores a private key on P-256 for SCP11 (PUT KEY).
    ///
    /// - Parameter number: 32 bytes, most significant first.
    public func put(
        privateKey number: SharedSecret, as key: SCPKeyReference, replacing version: UInt8 = 0
    ) throws(SecurityDomainError) {
        try key.require(.privateKey)
        guard (try? P256KeyAgreement(scalar: number.value)) != nil else { throw .badKey("not a private key on P-256") }
        try put(key) { wrapping throws(CryptoFault) in
            try PutSecurityKey.privateKey(key, number.value, replacing: version, under: wrapping)
        }
    }

    /// Stores the public key of a CA that issues certificates of hosts (PUT KEY).
    ///
    /// - Parameter point: 04, x, y on P-256.
    public func put(
        authority point: [UInt8], as key: SCPKeyReference, replacing version: UInt8 = 0
    ) throws(SecurityDomainError) {
        try key.require(.authority)
        guard (try? VerificationKey(ecdsa: .p256, point: point)) != nil else {
            throw .badKey("not a public key on P-256")
        }
        try requireHost()
        guard try send(PutSecurityKey.authority(key, point, replacing: version), key) else {
            throw .wrongCheckValue(key)
        }
    }

    private func put(
        _ key: SCPKeyReference, _ command: (SharedSecret) throws(CryptoFault) -> PutSecurityKey
    ) throws(SecurityDomainError) {
        try requireHost()
        let planned = channel.isPlanned ? SCP03Keys.factory.dataEncryption : nil
        guard let wrapping = planned ?? (channel.secureChannel as? SecureChannel)?.dataEncryption else {
            throw .noDataEncryptionKey
        }
        let put: PutSecurityKey
        do { put = try command(wrapping) } catch { throw .crypto(error) }
        guard try send(put, key) else { throw .wrongCheckValue(key) }
    }

    /// Deletes keys (DELETE KEY).
    ///
    /// - Parameters:
    ///   - id: Only those of this KID; `nil` for any. SCP03 sets are identified by their version alone.
    ///   - version: Only those of this version; `nil` for any.
    ///   - evenLast: Whether the last key may be deleted, which restores the factory's keys.
    /// - Throws: `noSuchKey`, `wouldDeleteLast`.
    public func delete(id: UInt8?, version: UInt8?, evenLast: Bool = false) throws(SecurityDomainError) {
        let isSet = id.map { (0x01...0x03).contains($0) } ?? false
        guard version != nil || id != nil && !isSet else {
            throw .badReference("specify a version: SCP03 sets are deleted by version")
        }
        try requireHost()
        try send(
            DeleteSecurityKey(id: isSet ? nil : id, version: version, evenLast: evenLast),
            SCPKeyReference(id: id ?? 0, version: version ?? 0))
    }

    // MARK: - Data of keys

    /// Stores the certificates of a private key, DER, leaf last.
    public func store(certificates: [[UInt8]], of key: SCPKeyReference) throws(SecurityDomainError) {
        try key.require(.privateKey)
        try requireHost()
        try send(StoreSecurityData.certificates(key, certificates), key)
    }

    /// Stores the CA of a key: its subject key identifier.
    public func store(authority identifier: [UInt8], of key: SCPKeyReference) throws(SecurityDomainError) {
        guard (1...32).contains(identifier.count) else { throw .badKey("a key identifier has 1 to 32 bytes") }
        try requireHost()
        try send(StoreSecurityData.authority(key, identifier), key)
    }

    /// Restricts the certificates of a CA that can open a channel, including their chain, to these serial numbers, most
    /// significant byte first; an empty array removes the restriction.
    public func store(allowedSerials serials: [[UInt8]], of key: SCPKeyReference) throws(SecurityDomainError) {
        try key.require(.authority)
        try requireHost()
        try send(StoreSecurityData.allowList(key, serials), key)
    }

    // MARK: - Reset

    /// Restores the factory's keys by blocking every key, which deletes it, and reads the resulting keys.
    ///
    /// Only YubiKeys restore the factory's keys in this way; on another card the keys would be permanently blocked.
    ///
    /// - Throws: `channelOpen`; `noReset` on a card other than a YubiKey; `resetIncomplete` if a key was not blocked,
    ///   or still exists, or the factory set is missing; `resetUnchecked` if the keys cannot be read afterwards.
    public func reset() throws(SecurityDomainError) {
        guard channel.secureChannel == nil else { throw .channelOpen }
        guard channel.identity.isYubiKey else { throw .noReset }
        for key in try keys().map(\.reference) where ![0x02, 0x03].contains(key.id) { try block(key) }
        let found: [SCPKeyReference]
        do { found = try keys().map(\.reference) } catch { throw .resetUnchecked(error) }
        let isFactory = { (key: SCPKeyReference) in
            [0x01, 0x02, 0x03].contains(key.id) ? key.version == Self.factorySet.version : key == Self.factoryPair
        }
        if let left = found.first(where: { !isFactory($0) }) { throw .resetIncomplete(left, .ok) }
        guard found.contains(Self.factorySet) else { throw .resetIncomplete(Self.factorySet, .ok) }
    }

    /// The SCP03 set of every new card.
    private static let factorySet = SCPKeyReference(id: 0x01, version: 0xFF)
    /// The SCP11b key of every new card.
    private static let factoryPair = SCPKeyReference(id: 0x13, version: 0x01)
    /// Maximum number of failed attempts that a key allows.
    private static let attemptLimit = 65

    private func block(_ key: SCPKeyReference) throws(SecurityDomainError) {
        let (instruction, parameters): (UInt8, SCPKeyReference) =
            switch key.id {
            // The version FF of the factory set cannot be specified.
            case 0x01: (SecurityDomainProtocol.Instruction.initializeUpdate, SCPKeyReference(id: 0, version: 0))
            case 0x11, 0x15: (SecurityDomainProtocol.Instruction.externalAuthenticate, key)
            case 0x13: (SecurityDomainProtocol.Instruction.internalAuthenticate, key)
            default: (SecurityDomainProtocol.Instruction.performOperation, key)
            }
        let attempt = APDU(
            cla: 0x80, ins: instruction, p1: parameters.version, p2: parameters.id,
            data: [UInt8](repeating: 0, count: 8))
        var status = StatusWord.ok
        for _ in 0..<Self.attemptLimit {
            do { status = try channel.transmit(attempt).status } catch { throw .card(error) }
            switch status {
            case .authenticationBlocked, .securityStatusNotSatisfied: return
            case .incorrectParameters: continue
            case .ok where key.id == 0x01: continue
            default: throw .resetIncomplete(key, status)
            }
        }
        throw .resetIncomplete(key, status)
    }

    // MARK: - Exchanges

    private func requireHost() throws(SecurityDomainError) {
        if channel.isPlanned { return }
        guard let secure = channel.secureChannel as? SecureChannel, secure.authenticatesHost else {
            throw .hostNotAuthenticated
        }
    }

    @discardableResult
    private func send<Command: CardCommand>(
        _ command: Command, _ key: SCPKeyReference
    ) throws(SecurityDomainError) -> Command.Response {
        do { return try channel.send(command) } catch { throw SecurityDomainError(error, key) }
    }
}
