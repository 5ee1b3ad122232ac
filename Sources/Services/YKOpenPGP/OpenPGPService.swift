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
