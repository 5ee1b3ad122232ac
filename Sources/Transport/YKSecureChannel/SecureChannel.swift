// SPDX-License-Identifier: Apache-2.0

package import YKCrypto
import YKProtocols
public import YKTransport
public import YKWire

/// The keys with which a secure channel is opened.
public enum SecureChannelCredential: Sendable {
    /// SCP03 with a static key set; version 0 means the card's first set.
    case scp03(SCP03Keys, version: UInt8 = 0)
    /// SCP11 with the card's key of this version, 0 for the first available; `host` for SCP11a and SCP11c.
    case scp11(SCP11Variant, version: UInt8 = 0, host: SCP11HostKey? = nil, trust: SCP11Trust)
}

/// A secure channel of GlobalPlatform: SCP03 (Amendment D 1.2) or SCP11 (Amendment F 1.4) with AES-128 and all four
/// protections, C-MAC, C-DECRYPTION, R-MAC and R-ENCRYPTION.
///
/// Hand it to `CardChannel.protect(with:)`; it is then opened in each selected application.
public final class SecureChannel: ChannelProtection {
    private let credential: SecureChannelCredential
    private let environment: ServiceEnvironment
    private var messaging: SecureMessaging?
    /// The card's public key and its reference, once read (SCP11).
    private var cardKey: (reference: SCPKeyReference, point: [UInt8])?
    /// The card's key that verifies the host's certificates, once known (SCP11a, SCP11c).
    private var authority: SCPKeyReference?

    /// Creates a channel that is opened later. SCP11a and SCP11c require a host key; SCP11b uses none.
    ///
    /// - Parameter environment: Provides the randomness for challenges and ephemeral keys, and the time for checking
    ///   certificates.
    public init(_ credential: SecureChannelCredential, environment: ServiceEnvironment) {
        self.credential = credential
        self.environment = environment
    }

    /// Whether the channel is open.
    public var isOpen: Bool { messaging != nil }

    /// Whether the host is authenticated to the card, which is required to manage the card's keys.
    package var authenticatesHost: Bool {
        switch credential {
        case .scp03: true
        case .scp11(let variant, _, _, _): variant.authenticatesHost
        }
    }

    /// The key of the open session that encrypts keys sent to the card.
    package var dataEncryption: SharedSecret? { messaging?.dataEncryption }

    /// Forgets the session keys.
    public func end() { messaging = nil }

    /// Encrypts the data of a command and appends its MAC.
    public func protect(_ command: APDU, _ form: APDU.Form) throws(CardError) -> APDU {
        guard var messaging else { throw .secureChannel(.ended) }
        let protected = try messaging.protect(command, form)
        self.messaging = messaging
        return protected
    }

    /// Verifies the MAC of a reply and decrypts its data.
    public func unprotect(_ response: ResponseAPDU) throws(CardError) -> ResponseAPDU {
        guard let messaging else { throw .secureChannel(.ended) }
        return try messaging.unprotect(response)
    }

    /// Reads the card's public key from its Security Domain before SCP11.
    public func prepare(_ card: ClearCommands) throws(CardError) {
        guard case .scp11(let variant, let version, let host, let trust) = credential, cardKey == nil else { return }
        guard variant.authenticatesHost == (host != nil) else {
            let reason = variant.authenticatesHost ? "needs a key and certificates" : "does not use a key"
            throw .secureChannel(.badHostKey("SCP\(variant.rawValue) \(reason) of the host"))
        }
        let reading = CardKeyReading(card: card, environment: environment)
        if let host {
            authority = host.authority.version == 0 ? try reading.authority(of: host) : host.authority
        }
        if case .key(let point) = trust, version != 0 {
            cardKey = (SCPKeyReference(id: variant.keyID, version: version), point)
            return
        }
        cardKey = try reading.key(variant, version, trust)
    }

    /// Authenticates both sides in the application that was just selected.
    public func open(in aid: AID, _ card: ClearCommands) throws(CardError) {
        end()
        switch credential {
        case .scp03(let keys, let version): messaging = try openSCP03(aid, card, keys, version)
        case .scp11(let variant, _, let host, _): messaging = try openSCP11(aid, card, variant, host)
        }
    }

    // MARK: - SCP03

    private func openSCP03(
        _ aid: AID, _ card: ClearCommands, _ keys: SCP03Keys, _ version: UInt8
    ) throws(CardError) -> SecureMessaging {
        let asked = SCPKeyReference(id: 0x01, version: version)
        let challenge = try lift(CardError.link) { () throws(LinkError) in
            try environment.random.draw(8, secret: false)
        }
        let response = try card.send(
            APDU(
                cla: 0x80, ins: SecurityDomainProtocol.Instruction.initializeUpdate, p1: version, data: challenge))
        try Self.check(response.status, asked, aid)
        // Diversification data (10), key information (3), challenge (8), cryptogram (8), optional counter (3).
        let reply = response.data
        guard reply.count == 29 || reply.count == 32 else {
            throw .malformed(
                WireError(.malformed, at: 0, "\(reply.count) bytes instead of 29 or 32"), during: "INITIALIZE UPDATE")
        }
        let used = SCPKeyReference(id: 0x01, version: reply[10])
        let context = challenge + reply[13..<21]
        let (session, expected, proof) = try Self.lifted { () throws(CryptoFault) in
            let session = try SessionKeys(keys, context: context)
            return (
                session, try session.cryptogram(.cardCryptogram, context: context),
                try session.cryptogram(.hostCryptogram, context: context)
            )
        }
        guard constantTimeEqual(expected, Array(reply[21..<29])) else { throw .secureChannel(.wrongKeys(used)) }
        var messaging = SecureMessaging(session, chain: [UInt8](repeating: 0, count: 16))
        let authenticate = try messaging.authenticate(
            APDU(
                cla: 0x80, ins: SecurityDomainProtocol.Instruction.externalAuthenticate,
                p1: SecurityDomainProtocol.fullProtection, data: proof, le: .none), card.form)
        let status = try card.send(authenticate).status
        guard status == .ok else { throw .secureChannel(.hostRefused(used, status)) }
        return messaging
    }

    /// What the status word of a handshake command means.
    static func check(_ status: StatusWord, _ key: SCPKeyReference, _ aid: AID) throws(CardError) {
        switch status {
        case .ok: return
        case .referenceNotFound: throw .secureChannel(.noSuchKey(key))
        case .authenticationBlocked: throw .secureChannel(.blocked(key))
        case .unknownInstruction, .unknownClass, .functionNotSupported: throw .secureChannel(.unsupported(aid))
        default: throw .secureChannel(.hostRefused(key, status))
        }
    }

    static func lifted<Value>(_ body: () throws(CryptoFault) -> Value) throws(CardError) -> Value {
        do { return try body() } catch { throw .secureChannel(.badHostKey(error.description)) }
    }

    // MARK: - SCP11

    private func openSCP11(
        _ aid: AID, _ card: ClearCommands, _ variant: SCP11Variant, _ host: SCP11HostKey?
    ) throws(CardError) -> SecureMessaging {
        guard let (reference, cardPoint) = cardKey else { throw .secureChannel(.ended) }
        if let host { try send(host, card, aid) }
        let own = try ephemeralKey()
        let request = SCP11.request(variant, point: [0x04] + own.publicPoint)
        let response = try card.send(
            APDU(
                cla: 0x80,
                ins: variant.authenticatesHost
                    ? SecurityDomainProtocol.Instruction.externalAuthenticate
                    : SecurityDomainProtocol.Instruction.internalAuthenticate,
                p1: reference.version, p2: reference.id, data: request))
        try Self.check(response.status, reference, aid)
        let reply = try lift({ CardError.malformed($0, during: "SCP11 key agreement") }) { () throws(WireError) in
            try SCP11.reply(response.data)
        }
        let (session, receipt) = try lift({ (_: CryptoFault) in CardError.secureChannel(.wrongReceipt(reference)) }) {
            () throws(CryptoFault) in
            let ephemeral = try own.shared(with: Array(reply.point.dropFirst()))
            let fixed =
                if let host {
                    try P256KeyAgreement(scalar: host.privateKey.value).shared(with: Array(cardPoint.dropFirst()))
                } else { try own.shared(with: Array(cardPoint.dropFirst())) }
            let (session, key) = try SessionKeys.scp11(ephemeral: ephemeral, fixed: fixed)
            return (session, try AESCMAC.code(request + reply.pointObject, key: key.value))
        }
        guard constantTimeEqual(receipt, reply.receipt) else { throw .secureChannel(.wrongReceipt(reference)) }
        return SecureMessaging(session, chain: receipt)
    }

    /// PERFORM SECURITY OPERATION for each certificate (Amendment F §7.5).
    private func send(_ host: SCP11HostKey, _ card: ClearCommands, _ aid: AID) throws(CardError) {
        let authority = authority ?? host.authority
        for (index, certificate) in host.certificates.enumerated() {
            let isLast = index == host.certificates.count - 1
            let status = try card.send(
                APDU(
                    cla: 0x80, ins: SecurityDomainProtocol.Instruction.performOperation, p1: authority.version,
                    p2: authority.id | (isLast ? 0 : 0x80), data: certificate, le: .none)
            ).status
            switch status {
            case .ok: continue
            case .referenceNotFound: throw .secureChannel(.noSuchKey(authority))
            case .authenticationBlocked: throw .secureChannel(.blocked(authority))
            case .unknownInstruction, .unknownClass: throw .secureChannel(.unsupported(aid))
            default: throw .secureChannel(.certificateRefused(index, status))
            }
        }
    }

    /// A new key; one draw in 2³² is not below the order of the curve.
    private func ephemeralKey() throws(CardError) -> P256KeyAgreement {
        for _ in 0..<4 {
            var number = try lift(CardError.link) { () throws(LinkError) in
                try environment.random.draw(32, secret: true)
            }
            defer { Secret.wipe(&number) }
            if let key = try? P256KeyAgreement(scalar: Secret(number)) { return key }
        }
        throw .link(.failed(code: 0, "the random source gives no private key"))
    }
}
