// SPDX-License-Identifier: Apache-2.0

import YKFIDO
public import YKTransport

/// An Arculus card on a contactless reader: registration, authentication, reset and PIN, each as one session that
/// waits for the card and survives that it slips away once.
///
/// When the card is lost in the middle, the whole is done once more with the same card if the user wants that. A PIN
/// that may have been wrong is never sent a second time.
public struct ArculusCard {
    /// Waits for a card and connects to its FIDO application; throws `reader` when none comes in time.
    public typealias Connect = () async throws(ArculusError) -> sending any FIDOLink

    /// Waits for a card.
    public var connect: Connect
    /// Tells the person with the card what to do.
    public var prompt: (ArculusPrompt) -> Void = { _ in }
    /// Asked whether to go on after the card was lost; asked once at most.
    public var wantsRetry: () -> Bool = { true }
    /// Whether cards of other makers are refused.
    public var takesOnlyArculus = false
    /// Whether answers that are not in CTAP2's canonical form are refused.
    public var isStrict = false

    /// Creates a card of a way to wait for one.
    public init(connect: @escaping Connect) { self.connect = connect }

    /// Does a piece of work with a card, and once more if the card is lost and comes again.
    func session<Value>(
        _ pin: PINGuard? = nil, _ body: (FIDOService) async throws(ArculusError) -> Value
    ) async throws(ArculusError) -> Value {
        var mark: CardMark?
        var isRetry = false
        while true {
            do throws(ArculusError) {
                let link = try await connect()
                prompt(.holdSteady)
                let value = try await body(try await open(link, pin, &mark))
                prompt(.done)
                return value
            } catch {
                if let problem = pin?.problem { throw problem }
                if case .reader = error { throw error }
                guard error.isTagLost, !isRetry, wantsRetry() else { throw error }
                isRetry = true
                prompt(.holdAgain)
            }
        }
    }

    /// Looks at a card; on a second look it has to be the same.
    private func open(
        _ link: sending any FIDOLink, _ pin: PINGuard?, _ mark: inout CardMark?
    ) async throws(ArculusError) -> FIDOService {
        let service: FIDOService
        let found: CardMark
        do throws(FIDOError) {
            service = try await FIDOService.open(link, interaction: FIDOInteraction(pin: { pin?.pin($0) }))
            await service.setStrict(isStrict)
            found = CardMark(isStrict ? try await service.freshInfo() : try await service.info())
        } catch {
            throw ArculusError(error, .opening)
        }
        if takesOnlyArculus, found.model.name == nil { throw .notArculus(found.model.rawValue) }
        if let mark, mark != found { throw .otherCard }
        mark = found
        return service
    }
}

/// What two looks at the same card have in common.
private struct CardMark: Hashable {
    let model: ArculusModel
    private let versions: [String]
    private let firmware: UInt64?

    init(_ info: AuthenticatorInfo) {
        model = ArculusModel(rawValue: info.aaguid)
        versions = info.versions.map(\.rawValue)
        firmware = info.firmwareVersion
    }
}

/// Does something with a card's service, and says in which step it failed.
func during<Value: Sendable>(
    _ step: ArculusStep, _ body: () async throws(FIDOError) -> Value
) async throws(ArculusError) -> Value {
    do { return try await body() } catch { throw ArculusError(error, step) }
}
