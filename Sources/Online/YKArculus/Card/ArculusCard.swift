// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
public import YKTransport

/// An Arculus card on a contactless reader: registration, authentication, reset and PIN, each as one session that
/// waits for the card and continues if it is removed once.
///
/// If the card is lost during an operation, the whole operation is repeated once with the same card if the user agrees.
/// A PIN that may have been wrong is never sent again.
public struct ArculusCard {
    /// Waits for a card and connects to its FIDO application; throws `reader` on a timeout.
    public typealias Connect = () async throws(ArculusError) -> sending any FIDOLink

    /// Waits for a card.
    public var connect: Connect
    /// Tells the user what to do with the card.
    public var prompt: (ArculusPrompt) -> Void = { _ in }
    /// Asks the user whether to continue after the card was lost; called at most once.
    public var wantsRetry: () -> Bool = { true }
    /// Asks the user whether a new credential may replace the one that the card stores for the same account.
    public var allowsReplacing: (_ user: FIDOUser, _ rpID: String) -> Bool = { _, _ in true }
    /// Whether cards of other vendors are refused.
    public var takesOnlyArculus = false
    /// Whether responses that are not in CTAP2's canonical form are refused.
    public var isStrict = false

    /// Creates a card with a closure that waits for one.
    public init(connect: @escaping Connect) { self.connect = connect }

    /// Runs an operation with a card, and repeats it once if the card is lost and presented again.
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

    /// Opens a card; on the second attempt it must be the same.
    private func open(
        _ link: sending any FIDOLink, _ pin: PINGuard?, _ mark: inout CardMark?
    ) async throws(ArculusError) -> FIDOService {
        let service: FIDOService
        let found: CardMark
        do throws(FIDOError) {
            var interaction = FIDOInteraction(pin: { await pin?.pin($0) })
            interaction.pinOutcome = { pin?.takeNote($0) }
            service = try await FIDOService.open(link, interaction: interaction)
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

/// The identity of a card, compared across two connections.
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

/// Uses a card's service, and adds the step to errors.
func during<Value: Sendable>(
    _ step: ArculusStep, _ body: () async throws(FIDOError) -> Value
) async throws(ArculusError) -> Value {
    do { return try await body() } catch { throw ArculusError(error, step) }
}
