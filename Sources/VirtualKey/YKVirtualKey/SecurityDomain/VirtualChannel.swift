// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKWire

/// The card's end of a secure channel, SCP03 (GlobalPlatform Amendment D) or SCP11 (Amendment F), from the first
/// command of a handshake until the next SELECT.
struct VirtualChannel: Sendable {
    private typealias Instruction = SecurityDomainProtocol.Instruction

    /// The state of the handshake.
    private enum Stage: Sendable {
        /// Nothing has been proved.
        case closed
        /// INITIALIZE UPDATE was answered; the cryptogram that the host must prove is known.
        case pending(Session, proof: [UInt8], version: UInt8)
        /// The host's certificates were verified up to this key.
        case certified(point: [UInt8], authority: (UInt8, UInt8), isComplete: Bool)
        /// Both sides have the session keys.
        case open(Session)
    }

    /// The keys of a session and its MAC chaining value.
    struct Session: Sendable {
        var encryption: [UInt8]
        var mac: [UInt8]
        var responseMAC: [UInt8]
        var dataEncryption: [UInt8]
        var chain: [UInt8]
        var counter: UInt32 = 0
        var isHostAuthenticated: Bool
    }

    private var stage = Stage.closed

    /// Whether commands must be protected.
    var isOpen: Bool { if case .open = stage { true } else { false } }

    /// The channel's rights in the Security Domain.
    var rights: SecurityDomainApplet.ChannelRights? {
        guard case .open(let session) = stage else { return nil }
        return .init(isHostAuthenticated: session.isHostAuthenticated, dataEncryption: session.dataEncryption)
    }

    /// Ends the channel.
    mutating func close() { stage = .closed }

    /// Whether a command is part of a handshake.
    static func isHandshake(_ command: APDU, _ profile: DeviceProfile) -> Bool {
        guard profile.hasSCP else { return false }
        switch (command.cla, command.ins) {
        case (0x80, Instruction.initializeUpdate), (0x84, Instruction.externalAuthenticate): return true
        case (0x80, Instruction.externalAuthenticate), (0x80, Instruction.internalAuthenticate),
            (0x80, Instruction.performOperation):
            return profile.hasSCP11
        default: return false
        }
    }

    /// Answers a handshake command.
    ///
    /// - Parameter isExtended: Whether its length was encoded in extended form.
    mutating func handshake(
        _ command: APDU, isExtended: Bool, _ key: inout VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        let before = stage
        stage = .closed
        try key.securityDomain.prepare(key.profile, inputs)
        switch (command.cla, command.ins) {
        case (0x80, Instruction.initializeUpdate): return try initializeUpdate(command, &key, inputs)
        case (0x84, Instruction.externalAuthenticate): try externalAuthenticate(command, isExtended, before, &key)
        case (0x80, Instruction.performOperation): try performSecurityOperation(command, before, &key)
        default: return try agree(command, before, &key, inputs)
        }
        return []
    }

    // MARK: - SCP03

    private mutating func initializeUpdate(
        _ command: APDU, _ key: inout VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        guard let index = key.securityDomain.index(0x01, command.p1), let set = key.securityDomain.keys?[index] else {
            throw .status(.referenceNotFound)
        }
        // Each attempt counts until the host has proved that it has the keys.
        guard try spendTry(index, &key, inputs) else { throw .status(.authenticationBlocked) }
        guard command.data.count == 8 else { throw .status(.wrongLength) }
        let challenge = try inputs.draw(8)
        let context = command.data + challenge
        do {
            let mac = try Self.derive(set.part(1), 0x06, context)
            let session = Session(
                encryption: try Self.derive(set.part(0), 0x04, context), mac: mac,
                responseMAC: try Self.derive(set.part(1), 0x07, context), dataEncryption: Array(set.bytes[32...]),
                chain: [UInt8](repeating: 0, count: 16), isHostAuthenticated: true)
            let proof = try Self.derive(Secret(mac), 0x01, context, length: 8)
            stage = .pending(session, proof: proof, version: set.version)
            return [UInt8](repeating: 0, count: 10) + [set.version, 0x03, 0x60] + challenge
                + (try Self.derive(Secret(mac), 0x00, context, length: 8))
        } catch { throw .status(.memoryFailure) }
    }

    private mutating func externalAuthenticate(
        _ command: APDU, _ isExtended: Bool, _ before: Stage, _ key: inout VirtualKeyState
    ) throws(Refusal) {
        guard case .pending(var session, let proof, let version) = before else {
            throw .status(.conditionsNotSatisfied)
        }
        guard command.p1 == SecurityDomainProtocol.fullProtection, command.p2 == 0, command.data.count == 16 else {
            throw .status(.incorrectParameters)
        }
        guard session.verify(command, isExtended), constantTimeEqual(Array(command.data[..<8]), proof) else {
            throw .status(.securityStatusNotSatisfied)
        }
        if let index = key.securityDomain.index(0x01, version) {
            key.securityDomain.keys?[index].tries = SecurityDomainMemory.tryLimit
        }
        stage = .open(session)
    }

    /// Derives a key or cryptogram of SCP03, whose KDF YubiHSM Auth uses too.
    static func derive(
        _ key: borrowing Secret, _ constant: UInt8, _ context: [UInt8], length: Int = 16
    ) throws(CryptoFault) -> [UInt8] {
        try AESCMAC.derive(
            key, label: [UInt8](repeating: 0, count: 11) + [constant], context: context, length: length
        ).copyBytes()
    }

    /// Uses up one of a key's retries; `false` if it was the last, which deletes the key. A Security Domain without
    /// keys gets the factory keys again.
    private func spendTry(
        _ index: Int, _ key: inout VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) -> Bool {
        guard let tries = key.securityDomain.keys?[index].tries, tries > 1 else {
            key.securityDomain.keys?.remove(at: index)
            try key.securityDomain.prepare(key.profile, inputs)
            return false
        }
        key.securityDomain.keys?[index].tries = tries - 1
        return true
    }

    // MARK: - SCP11

    /// PERFORM SECURITY OPERATION: one certificate of the host's chain. Key ID and version 0 stand for any authority
    /// (Amendment F §7.5.2); ykman sends them by default.
    private mutating func performSecurityOperation(
        _ command: APDU, _ before: Stage, _ key: inout VirtualKeyState
    ) throws(Refusal) {
        let (id, version) = (command.p2 & 0x7F, command.p1)
        let keys = key.securityDomain.keys ?? []
        let places = keys.indices.filter {
            keys[$0].isAuthority && (id == 0 || keys[$0].id == id) && (version == 0 || keys[$0].version == version)
        }
        guard let first = places.first else { throw .status(.referenceNotFound) }
        guard let certificate = try? SecurityDomainCertificates.Host(command.data),
            let index = places.first(where: { certificate.isSigned(by: Self.signer(keys[$0], before)) }),
            keys[index].allowed.map({ $0.contains(certificate.serial) }) ?? true
        else { return try fail(first, &key) }
        key.securityDomain.keys?[index].tries = SecurityDomainMemory.tryLimit
        stage = .certified(
            point: certificate.point, authority: (keys[index].id, keys[index].version),
            isComplete: command.p2 & 0x80 == 0)
    }

    /// The key that must have signed the next certificate: that of the previous certificate from the same authority, or
    /// the authority's.
    private static func signer(_ authority: SecurityDomainMemory.Key, _ before: Stage) -> [UInt8] {
        guard case .certified(let point, (authority.id, authority.version), false) = before else {
            return authority.bytes
        }
        return point
    }

    /// Handles a failed handshake: uses up a retry; the last failure deletes the key.
    private func fail(_ index: Int, _ key: inout VirtualKeyState) throws(Refusal) {
        guard let tries = key.securityDomain.keys?[index].tries, tries > 1 else {
            key.securityDomain.keys?.remove(at: index)
            throw .status(.authenticationBlocked)
        }
        key.securityDomain.keys?[index].tries = tries - 1
        throw .status(.incorrectParameters)
    }

    /// INTERNAL AUTHENTICATE (SCP11b) and MUTUAL AUTHENTICATE (SCP11a, SCP11c).
    private mutating func agree(
        _ command: APDU, _ before: Stage, _ key: inout VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        let isInternal = command.ins == Instruction.internalAuthenticate
        guard isInternal ? command.p2 == 0x13 : [0x11, 0x15].contains(command.p2),
            let index = key.securityDomain.index(command.p2, command.p1), let own = key.securityDomain.keys?[index]
        else { throw .status(.referenceNotFound) }
        let parameter: [UInt8: UInt8] = [0x11: 0x01, 0x13: 0x00, 0x15: 0x03]
        let template: [UInt8] = [
            0xA6, 0x0D, 0x90, 0x02, 0x11, parameter[command.p2] ?? 0, 0x95, 0x01, 0x3C, 0x80, 0x01, 0x88, 0x81, 0x01,
            0x10,
            0x5F, 0x49, 0x41,
        ]
        guard command.data.count == template.count + 65, command.data.starts(with: template) else {
            try fail(index, &key)
            return []
        }
        var host = Array(command.data.suffix(65))
        let ephemeralPoint = host
        if !isInternal {
            guard case .certified(let point, _, true) = before else { throw .status(.conditionsNotSatisfied) }
            host = point
        }
        let number = try HSMAuthApplet.privateNumber(inputs)
        do {
            let (reply, session) = try Self.agreement(
                command.data, number, own.bytes, ephemeralPoint, host, isHostAuthenticated: command.p2 == 0x11)
            key.securityDomain.keys?[index].tries = SecurityDomainMemory.tryLimit
            stage = .open(session)
            return reply
        } catch {
            try fail(index, &key)
            return []
        }
    }

    private static func agreement(
        _ request: [UInt8], _ ephemeral: [UInt8], _ fixed: [UInt8], _ ephemeralPoint: [UInt8], _ hostPoint: [UInt8],
        isHostAuthenticated: Bool
    ) throws(CryptoFault) -> ([UInt8], Session) {
        let pair = try P256KeyAgreement(scalar: Secret(ephemeral))
        let one = try pair.shared(with: Array(ephemeralPoint.dropFirst()))
        let two = try P256KeyAgreement(scalar: Secret(fixed)).shared(with: Array(hostPoint.dropFirst()))
        let keys = try HashAlgorithm.sha256.x963(
            Secret(one.copyBytes() + two.copyBytes()), sharedInfo: [0x3C, 0x88, 0x10], length: 80
        ).copyBytes()
        let point = TLV(0x5F49, [0x04] + pair.publicPoint).encoded
        let receipt = try AESCMAC.code(request + point, key: Secret(keys[..<16]))
        let session = Session(
            encryption: Array(keys[16..<32]), mac: Array(keys[32..<48]), responseMAC: Array(keys[48..<64]),
            dataEncryption: Array(keys[64...]), chain: receipt, isHostAuthenticated: isHostAuthenticated)
        return (point + TLV(0x86, receipt).encoded, session)
    }

    // MARK: - Protected commands

    /// Verifies and decrypts a command; a wrong MAC closes the channel.
    mutating func unwrap(_ command: APDU, isExtended: Bool) throws(Refusal) -> APDU {
        guard case .open(var session) = stage else { throw .status(.unknownClass) }
        guard session.verify(command, isExtended), var plain = session.decrypt(Array(command.data.dropLast(8))) else {
            stage = .closed
            throw .status(StatusWord(0x6988))
        }
        stage = .open(session)
        var result = command
        result.cla &= ~0x04
        swap(&result.data, &plain)
        return result
    }

    /// Encrypts the data of a 9000 reply and appends its MAC.
    func wrap(_ data: [UInt8]) -> [UInt8] {
        guard case .open(let session) = stage else { return data }
        return session.wrap(data)
    }
}

extension VirtualChannel.Session {
    /// Verifies the MAC, the last 8 bytes of a command's data, and updates the chaining value.
    mutating func verify(_ command: APDU, _ isExtended: Bool) -> Bool {
        guard command.data.count >= 8 else { return false }
        let count = command.data.count
        let length: [UInt8] =
            isExtended || count > 255
            ? [0, UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count)] : [UInt8(count)]
        let header = [command.cla, command.ins, command.p1, command.p2] + length
        guard let code = try? AESCMAC.code(chain + header + command.data.dropLast(8), key: Secret(mac)) else {
            return false
        }
        chain = code
        return constantTimeEqual(Array(code.prefix(8)), Array(command.data.suffix(8)))
    }

    /// Decrypts a command's data. Every protected command increments the counter, even one without data.
    mutating func decrypt(_ cipher: [UInt8]) -> [UInt8]? {
        counter += 1
        guard !cipher.isEmpty else { return [] }
        guard cipher.count % 16 == 0,
            let plain = try? AESCBC.decrypt(cipher, key: Secret(encryption), initialisationVector: try vector(0))
        else { return nil }
        guard let end = plain.lastIndex(where: { $0 != 0 }), plain[end] == 0x80 else { return nil }
        return Array(plain[..<end])
    }

    func wrap(_ data: [UInt8]) -> [UInt8] {
        var body: [UInt8] = []
        if !data.isEmpty {
            let padded = data + [0x80] + [UInt8](repeating: 0, count: 15 - data.count % 16)
            let cipher = try? AESCBC.encrypt(
                padded, key: Secret(encryption), initialisationVector: try vector(0x80))
            body = cipher ?? []
        }
        let code = try? AESCMAC.code(chain + body + [0x90, 0x00], key: Secret(responseMAC))
        return body + (code ?? []).prefix(8)
    }

    private func vector(_ first: UInt8) throws(CryptoFault) -> [UInt8] {
        let number = (0..<4).map { UInt8(truncatingIfNeeded: counter >> UInt32(24 - 8 * $0)) }
        return try BlockCipher.aes.encrypt(
            [first] + [UInt8](repeating: 0, count: 11) + number, key: Secret(encryption))
    }
}
