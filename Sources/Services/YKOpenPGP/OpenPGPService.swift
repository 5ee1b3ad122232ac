// SPDX-License-Identifier: Apache-2.0

import YKProtocols
public import YKTransport
import YKWire

/// The application of an OpenPGP card (OpenPGP Smart Card Application 3.4).
///
/// Every method runs a whole exchange with the card on the service's own thread; concurrent calls never interleave.
public actor OpenPGPService: CardKeyService {
    /// The runtime of the service.
    public nonisolated let runtime: ServiceRuntime
    let channel: CardChannel
    /// Data that stays the same until something is written; read on first use.
    var facts: OpenPGPCardFacts?
    /// The retries as last read; `nil` once a right PIN may have restored them.
    var counters: OpenPGPPINStatus?
    /// The verified purposes, as far as this service knows.
    var verified: Set<OpenPGPAccess> = []

    private init(_ channel: sending CardChannel, _ runtime: ServiceRuntime) {
        self.channel = channel
        self.runtime = runtime
    }

    /// Selects the application.
    ///
    /// - Throws: `card(.appletMissing)` if the card has none, or it is disabled; `terminated`.
    public static func open(_ channel: sending CardChannel) async throws(OpenPGPError) -> OpenPGPService {
        let (runtime, channel) = try await ServiceRuntime.open(card: channel, OpenPGPError.card) {
            channel throws(OpenPGPError) in
            do throws(CardError) { _ = try channel.select(.openPGP) } catch {
                if case .status(let status, _) = error, [.noInputData, .conditionsNotSatisfied].contains(status) {
                    throw .terminated
                }
                throw .card(error)
            }
            return channel
        }
        return OpenPGPService(channel, runtime)
    }

    /// Activates an application that was terminated by an incomplete reset (ACTIVATE FILE, §7.2.17), in its initial
    /// state. Does nothing if it is active.
    public static func activate(_ channel: sending CardChannel) async throws(OpenPGPError) -> OpenPGPService {
        let (runtime, channel) = try await ServiceRuntime.open(card: channel, OpenPGPError.card) {
            channel throws(OpenPGPError) in
            do throws(CardError) {
                do throws(CardError) { _ = try channel.select(.openPGP) } catch {
                    guard case .status(let status, _) = error,
                        [.noInputData, .conditionsNotSatisfied].contains(status)
                    else { throw error }
                    try channel.send(ActivateFile())
                    _ = try channel.select(.openPGP)
                }
            } catch { throw .card(error) }
            return channel
        }
        return OpenPGPService(channel, runtime)
    }

    /// Lets other programs use the card until the next operation. If a PIN was verified, the card is reset first, and
    /// the PIN must be verified again.
    public func rest() {
        if channel.resetsOnRelease { verified = [] }
        channel.rest()
    }

    /// The number of exchanges with the card.
    public var statistics: ServiceStatistics { ServiceStatistics(exchanges: channel.exchanges) }

    /// Closes the connection to the card.
    public func close() { channel.close() }

    /// Reads the card's identity, PINs and keys (GET DATA 6E).
    public func status() throws(OpenPGPError) -> OpenPGPStatus {
        let bytes = try read(Tag.application) { $0 }
        do {
            let status = try OpenPGPStatus(decoding: bytes)
            facts = OpenPGPCardFacts(status: status, application: bytes)
            counters = status.pins
            return status
        } catch { throw .card(.malformed(error, during: GetData.name)) }
    }

    /// Reads how PINs are hashed before they are sent (GET DATA F9); `nil` if they are sent unhashed or the card has no
    /// such object.
    ///
    /// - Throws: `card(.malformed)` for a derivation that is unknown, `card(.status)` for a refusal that does not mean that
    ///   there is none: a PIN that is sent without it costs a retry.
    public func kdf() throws(OpenPGPError) -> OpenPGPKDF? { try kdf(isChanged: false) }

    /// Reads the key derivation before it is changed: the card must report that there is none.
    func kdfToChange() throws(OpenPGPError) -> OpenPGPKDF? { try kdf(isChanged: true) }

    private func kdf(isChanged: Bool) throws(OpenPGPError) -> OpenPGPKDF? {
        let answer = try ask(Tag.kdf) { bytes throws(WireError) in try OpenPGPKDF(decoding: bytes) }
        switch answer {
        case .malformed(let error): throw .card(.malformed(error, during: GetData.name))
        case .refused(let status) where !Self.absent.contains(status):
            throw .card(.status(status, during: GetData.name))
        case .unrecorded where isChanged: throw .card(.link(.replay(.overwritten("the key derivation of PINs"))))
        default: return answer.value ?? nil
        }
    }

    /// Reads the firmware of a YubiKey (GET VERSION); `nil` on other cards.
    public func firmware() throws(OpenPGPError) -> FirmwareVersion? {
        guard try cardFacts().isYubiKey else { return nil }
        do { return try channel.ask(GetFirmware()).value } catch { throw .card(error) }
    }

    /// Reads an optional data object; see `CardChannel.ask`.
    func ask<Value>(
        _ tag: TLV.Tag, _ decode: ([UInt8]) throws(WireError) -> Value
    ) throws(OpenPGPError) -> CardAnswer<Value> {
        do { return try channel.ask(GetData(tag: tag)).map(decode) } catch { throw .card(error) }
    }

    static let absent: [StatusWord] = [
        .unknownInstruction, .unknownClass, .conditionsNotSatisfied, .wrongParameters, .incorrectP1P2,
        .referenceNotFound, .notFound, .functionNotSupported,
    ]

    func read<Value>(
        _ tag: TLV.Tag, _ decode: ([UInt8]) throws(WireError) -> Value
    ) throws(OpenPGPError) -> Value {
        do {
            let bytes = try channel.send(GetData(tag: tag))
            return try lift({ CardError.malformed($0, during: GetData.name) }) { () throws(WireError) in
                try decode(bytes)
            }
        } catch { throw .card(error) }
    }
}

/// A report on an OpenPGP card.
public struct OpenPGPReport: Sendable {
    /// The card's identity, PINs and keys.
    public let status: OpenPGPStatus
    /// The cardholder.
    public let cardholder: OpenPGPCardholder
    /// The number of signatures since the signature key was made; `nil` if the card does not report it.
    public let signatures: Int?
    /// Whether PINs are sent as hashes; `nil` if the card does not report it in a known form.
    public let usesKDF: Bool?
    /// The firmware of a YubiKey, if reported.
    public let firmware: FirmwareVersion?
    /// Why other parts cannot be read; parts that a card simply lacks are not listed.
    public let problems: [Problem]

    /// A part for which the card gave an unexpected answer.
    public struct Problem: Sendable, Hashable {
        /// The name of the part.
        public let part: String
        /// The card's answer.
        public let error: OpenPGPError
    }
}

extension OpenPGPService {
    /// Reports everything that is readable without a PIN. An unexpected answer for one part does not prevent the report
    /// of the others; only the application related data (6E) is required.
    public func report() throws(OpenPGPError) -> OpenPGPReport {
        let status = try status()
        var problems: [OpenPGPReport.Problem] = []
        let login = try part("login data", Tag.loginData, &problems) { $0 }
        let url = try part("URL", Tag.url, &problems) { $0 }
        let holder = try part("cardholder", Tag.cardholder, &problems) { bytes throws(WireError) in
            try OpenPGPCardholder(related: bytes, login: login ?? [], url: url ?? [])
        }
        let signatures = try part("signature counter", Tag.securitySupport, &problems) { bytes throws(WireError) in
            try Self.signatureCount(bytes)
        }
        var usesKDF: Bool? = false
        if status.supportsKDF {
            let count = problems.count
            let derivation = try part("key derivation", Tag.kdf, &problems) { bytes throws(WireError) in
                try OpenPGPKDF(decoding: bytes)
            }
            usesKDF = problems.count == count ? (derivation ?? nil) != nil : nil
        }
        return OpenPGPReport(
            status: status,
            cardholder: holder ?? OpenPGPCardholder(name: nil, languages: [], login: login ?? [], url: url ?? []),
            signatures: signatures, usesKDF: usesKDF, firmware: try firmware(), problems: problems)
    }

    /// Reads the number of signatures made since the signature key was generated or imported (GET DATA 7A); `nil` if the
    /// card does not report it.
    public func signatureCount() throws(OpenPGPError) -> Int? {
        try ask(Tag.securitySupport) { bytes throws(WireError) in try Self.signatureCount(bytes) }.value
    }

    private static func signatureCount(_ bytes: [UInt8]) throws(WireError) -> Int {
        var objects = try TLV.list(bytes)
        if let inner = objects.value(Tag.securitySupport) { objects = try TLV.list(inner) }
        let digits = try objects.required(Tag.signatureCounter, "signature counter")
        guard digits.count <= 4 else { throw WireError(.tooLarge, at: 0, "a counter of \(digits.count) bytes") }
        return digits.reduce(0) { $0 << 8 | Int($1) }
    }

    /// Reads a part; `nil` if it is absent, or the card answers unexpectedly.
    private func part<Value>(
        _ name: String, _ tag: TLV.Tag, _ problems: inout [OpenPGPReport.Problem],
        _ decode: ([UInt8]) throws(WireError) -> Value
    ) throws(OpenPGPError) -> Value? {
        switch try ask(tag, decode) {
        case .answered(let value): return value
        case .refused(let status) where !Self.absent.contains(status):
            problems.append(.init(part: name, error: .card(.status(status, during: GetData.name))))
        case .malformed(let error):
            problems.append(.init(part: name, error: .card(.malformed(error, during: GetData.name))))
        case .refused, .unrecorded: break
        }
        return nil
    }

    /// Resets the application to its initial state (TERMINATE DF, ACTIVATE FILE): keys, certificates, PINs and data are
    /// lost; a YubiKey keeps its attestation key.
    ///
    /// A card terminates at once if the admin PIN is verified, otherwise only when both PINs are blocked. They are blocked
    /// only after the card has shown that it has the command: by the status indicator of its historical bytes, which
    /// are no more than zeros on a YubiKey NEO, and by its answer to TERMINATE DF.
    ///
    /// - Throws: `unsupported` if the card cannot be terminated, in which case nothing was changed; `notBlocked` if wrong
    ///   PINs do not use up the retries; `resetUnfinished` for a refusal after the first change.
    public func reset() throws(OpenPGPError) {
        let present = try status()
        var canReset = present.hasLifeCycle
        if !canReset, let version = try firmware() {
            canReset = (FirmwareVersion(1, 0, 6)..<FirmwareVersion(4, 0, 0)).contains(version)
        }
        guard canReset else { throw .unsupported("a reset; nothing was changed") }
        if let refusal = try terminate() {
            if Self.unknown.contains(refusal) { throw .unsupported("a reset; nothing was changed") }
            guard Self.needsBlocking.contains(refusal) else { throw Self.refused(refusal) }
            try blockPINs(present)
            if let refusal = try terminate() {
                guard Self.needsBlocking.contains(refusal) else {
                    throw .resetUnfinished(isTerminated: false, .status(refusal, during: TerminateDF.name))
                }
                let left = try? pinStatus().retries
                throw .notBlocked(user: left?.user, admin: left?.admin)
            }
        }
        verified = []
        facts = nil
        do { try channel.send(ActivateFile()) } catch { throw .resetUnfinished(isTerminated: true, error) }
        _ = try? channel.select(.openPGP)
    }

    /// Terminates the application; returns the status word of a card that refuses it.
    private func terminate() throws(OpenPGPError) -> StatusWord? {
        do { try channel.send(TerminateDF()) } catch {
            guard case .status(let status, _) = error else { throw .card(error) }
            return status
        }
        return nil
    }

    private static func refused(_ status: StatusWord) -> OpenPGPError {
        .card(.status(status, during: TerminateDF.name))
    }

    private static let needsBlocking: [StatusWord] = [
        .securityStatusNotSatisfied, .conditionsNotSatisfied, .authenticationBlocked,
    ]
    private static let unknown: [StatusWord] = [
        .unknownInstruction, .unknownClass, .functionNotSupported, .wrongParameters, .incorrectP1P2,
    ]

    /// Uses up the retries of both PINs: sends as many wrong ones as the card reports retries, fewer if it reports
    /// earlier that a PIN is blocked.
    private func blockPINs(_ present: OpenPGPStatus) throws(OpenPGPError) {
        let isHashed = present.supportsKDF && (try? kdf()) != nil
        // As in GnuPG: a PIN that nobody uses, as long as a hash.
        let wrong = [UInt8](repeating: isHashed ? 0x40 : 0x00, count: isHashed ? 32 : 8)
        let retries = present.pins.retries
        for (reference, left) in [(Password.signing, retries.user), (Password.admin, retries.admin)] {
            for number in 0..<left {
                let reply: ResponseAPDU
                do {
                    reply = try channel.transmit(
                        APDU(ins: OpenPGPProtocol.Instruction.verify, p2: reference, data: wrong, le: .none))
                } catch { throw .card(error) }
                if reply.status == .authenticationBlocked || reply.status == StatusWord(0x63C0) { break }
                guard reply.status == .securityStatusNotSatisfied || reply.status.triesLeft != nil else {
                    let refusal = CardError.status(reply.status, during: VerifyPIN.name)
                    let isFirst = number == 0 && (reference == Password.signing || retries.user == 0)
                    throw isFirst ? .card(refusal) : .resetUnfinished(isTerminated: false, refusal)
                }
            }
        }
    }
}
