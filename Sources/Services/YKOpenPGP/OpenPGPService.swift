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
    /// The unchanging properties; read on first use.
    var facts: OpenPGPCardFacts?
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

    /// Lets other programs use the card until the next operation. If a PIN was verified, the card is reset before, and it
    /// must be verified again.
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
        try read(Tag.application) { bytes throws(WireError) in try OpenPGPStatus(decoding: bytes) }
    }

    /// Reads the cardholder data (GET DATA 65, 5E, 5F50).
    public func cardholder() throws(OpenPGPError) -> OpenPGPCardholder {
        let login = try read(Tag.loginData) { $0 }
        let url = try read(Tag.url) { $0 }
        return try read(Tag.cardholder) { bytes throws(WireError) in
            try OpenPGPCardholder(related: bytes, login: login, url: url)
        }
    }

    /// Reads the number of signatures made since the signature key was generated or imported (GET DATA 7A).
    public func signatureCount() throws(OpenPGPError) -> Int {
        try read(Tag.securitySupport) { bytes throws(WireError) in
            var objects = try TLV.list(bytes)
            if let inner = objects.value(Tag.securitySupport) { objects = try TLV.list(inner) }
            let digits = try objects.required(Tag.signatureCounter, "signature counter")
            guard digits.count <= 4 else { throw WireError(.tooLarge, at: 0, "a counter of \(digits.count) bytes") }
            return digits.reduce(0) { $0 << 8 | Int($1) }
        }
    }

    /// Reads how PINs are hashed before they are sent (GET DATA F9); `nil` if they are sent unhashed or the card has no
    /// such object.
    public func kdf() throws(OpenPGPError) -> OpenPGPKDF? {
        do {
            return try read(Tag.kdf) { bytes throws(WireError) in try OpenPGPKDF(decoding: bytes) }
        } catch {
            guard case .card(.status(let status, _)) = error, Self.absent.contains(status) else { throw error }
            return nil
        }
    }

    /// Reads the firmware of a YubiKey (GET VERSION); `nil` on other cards.
    public func firmware() throws(OpenPGPError) -> FirmwareVersion? {
        do { return try channel.send(GetFirmware()) } catch {
            guard case .status(let status, _) = error, Self.absent.contains(status) else { throw .card(error) }
            return nil
        }
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
