// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKFIDO
public import YKTransport
public import YKWire

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

extension ArculusCard {
    /// A card's capabilities and remaining PIN retries.
    public struct State: Sendable {
        /// The model.
        public let model: ArculusModel
        /// Its capabilities (getInfo).
        public let info: AuthenticatorInfo
        /// The remaining PIN retries; `nil` without a PIN, and if the card does not report them.
        public let retries: PINRetries?
    }

    /// Waits for a card and reads its state; needs no PIN.
    public func state() async throws(ArculusError) -> State {
        try await session { service throws(ArculusError) in
            try await during(.opening) { () throws(FIDOError) in
                let info = try await service.info()
                return State(
                    model: ArculusModel(rawValue: info.aaguid), info: info,
                    retries: info.hasPIN ? try await service.pinRetriesIfTold() : nil)
            }
        }
    }

    /// Erases all credentials and the PIN, and sets a new PIN of six digits or more.
    public func reset(to newPIN: SharedSecret) async throws(ArculusError) {
        try ArculusPIN.checkNew(newPIN)
        var isReset = false
        try await session { service throws(ArculusError) in
            try await Self.reset(service, to: newPIN, &isReset)
        }
    }

    /// Resets a card unless that was done already, and sets its PIN unless it was set before the card was lost.
    static func reset(
        _ service: FIDOService, to newPIN: SharedSecret, _ isReset: inout Bool
    ) async throws(ArculusError) {
        if !isReset {
            try await during(.resetting) { () throws(FIDOError) in try await service.reset() }
            isReset = true
        }
        let info = try await during(.opening) { () throws(FIDOError) in try await service.info() }
        try await during(.settingPIN) { () throws(FIDOError) in
            // An existing PIN can only be ours; verifying it also shows that this is the same card.
            if info.hasPIN { try await service.verifyPIN(newPIN) } else { try await service.setPIN(newPIN) }
        }
    }

    /// Changes the PIN and keeps the credentials. `old` is requested once, with the remaining retries; a wrong one uses
    /// up a retry.
    ///
    /// - Throws: `changeInDoubt` if the card was lost during the change.
    public func changePIN(
        from old: (PINRetries) -> SharedSecret?, to newPIN: SharedSecret
    ) async throws(ArculusError) {
        try ArculusPIN.checkNew(newPIN)
        try await session { service throws(ArculusError) in
            let retries = try await during(.settingPIN) { () throws(FIDOError) in
                guard try await service.info().hasPIN else { throw .pinNotSet }
                return try await service.usablePINRetries()
            }
            guard let old = old(retries), !old.value.isEmpty else { throw ArculusError(.pinNeeded, .settingPIN) }
            do throws(ArculusError) {
                try await during(.settingPIN) { () throws(FIDOError) in
                    try await service.changePIN(from: old, to: newPIN)
                }
            } catch {
                throw error.isTagLost ? .changeInDoubt : error
            }
        }
    }

    /// Creates a credential for options of a server; the user is verified by the PIN, whatever the options say.
    ///
    /// With `newPIN` the card is reset first, which erases all its credentials, and gets this PIN. Otherwise a
    /// credential that the card stores for the same account is replaced only if ``allowsReplacing`` agrees.
    public func register(
        _ options: PublicKeyCredentialCreationOptions, origin: Origin, pin: ArculusPIN,
        afterResetTo newPIN: SharedSecret? = nil
    ) async throws(ArculusError) -> RegistrationResponse {
        var wanted = options
        wanted.selection.userVerification = .required
        if let newPIN { try ArculusPIN.checkNew(newPIN) }
        let guarded = PINGuard(try newPIN.map { secret throws(ArculusError) in try ArculusPIN(secret) } ?? pin)
        var isReset = newPIN == nil
        return try await session(guarded) { service throws(ArculusError) in
            if let newPIN { try await Self.reset(service, to: newPIN, &isReset) }
            if newPIN == nil { try await checkReplacing(wanted, origin, service) }
            let client = WebAuthnClient(service: service, origin: origin)
            do throws(WebAuthnError) { return try await client.create(wanted) } catch {
                throw .card(error, during: .registering)
            }
        }
    }

    /// Refuses to replace a credential without the user's agreement.
    private func checkReplacing(
        _ options: PublicKeyCredentialCreationOptions, _ origin: Origin, _ service: FIDOService
    ) async throws(ArculusError) {
        guard options.selection.residentKey != .discouraged else { return }
        let rpID: String
        do { rpID = try origin.relyingPartyID(options.rpID) } catch { throw .card(error, during: .registering) }
        let replaced = try await during(.registering) { () async throws(FIDOError) in
            try await service.replacement(for: rpID, userID: options.user.id)
        }
        if case .credential(let found) = replaced, !options.excludeCredentials.contains(where: { $0.id == found.id }),
            !allowsReplacing(options.user, rpID)
        {
            throw .card(.key(.denied), during: .registering)
        }
    }

    /// Requests an assertion for a server's options; the user is verified by the PIN, whatever the options say.
    ///
    /// If the options list no credential and the card has several, `username` selects one.
    public func authenticate(
        _ options: PublicKeyCredentialRequestOptions, username: String?, origin: Origin, pin: ArculusPIN
    ) async throws(ArculusError) -> AuthenticationResponse {
        var wanted = options
        wanted.userVerification = .required
        return try await session(PINGuard(pin)) { service throws(ArculusError) in
            let client = WebAuthnClient(service: service, origin: origin)
            do throws(WebAuthnError) {
                return try await client.get(wanted) { found in
                    guard let username else { return 0 }
                    return found.firstIndex { $0.response.user?.name == username }
                }
            } catch {
                throw .card(error, during: .authenticating)
            }
        }
    }

    /// Creates a credential without a server (the SDK's registerCardOnly), with client data of this challenge and
    /// origin. The response is for the issuer of the challenge.
    public func registerCardOnly(
        pin: ArculusPIN, username: String, displayName: String, rpID: String, challenge: [UInt8], origin: Origin,
        isResident: Bool = false
    ) async throws(ArculusError) -> RegistrationResponse {
        let name = Array(username.utf8)
        let user = FIDOUser(
            id: (1...64).contains(name.count) ? name : HashAlgorithm.sha256.hash(name), name: username,
            displayName: displayName)
        var options = PublicKeyCredentialCreationOptions(rpID: rpID, rpName: rpID, user: user, challenge: challenge)
        options.selection.residentKey = isResident ? .required : .discouraged
        options.attestation = .direct
        return try await register(options, origin: origin, pin: pin)
    }

    /// Requests an assertion without a server (the SDK's authenticateCardOnly), with client data of the options'
    /// challenge and this origin.
    public func authenticateCardOnly(
        pin: ArculusPIN, username: String?, rpID: String, options: PublicKeyCredentialRequestOptions, origin: Origin
    ) async throws(ArculusError) -> AuthenticationResponse {
        guard options.rpID == nil || options.rpID == rpID else {
            throw .reply("the options are for '\(options.rpID ?? "")', not for '\(rpID)'")
        }
        var wanted = options
        wanted.rpID = rpID
        return try await authenticate(wanted, username: username, origin: origin, pin: pin)
    }
}

/// An instruction for the user with the card.
public enum ArculusPrompt: Hashable, Sendable {
    /// The card is in use: hold it steady.
    case holdSteady
    /// The card was lost: present the same one again, once.
    case holdAgain
    /// The card can be removed.
    case done
}

/// A model of Arculus card, by its AAGUID.
public struct ArculusModel: OpenSet {
    /// The AAGUID, 16 bytes.
    public let rawValue: [UInt8]
    /// Wraps an AAGUID.
    public init(rawValue: [UInt8]) { self.rawValue = rawValue }

    /// 9d3df6ba-282f-11ed-a261-0242ac120002.
    public static let keyCard = ArculusModel(rawValue: [
        0x9D, 0x3D, 0xF6, 0xBA, 0x28, 0x2F, 0x11, 0xED, 0xA2, 0x61, 0x02, 0x42, 0xAC, 0x12, 0x00, 0x02,
    ])
    /// 3f59672f-20aa-4afe-b6f4-7e5e916b6d98.
    public static let keyCardP71 = ArculusModel(rawValue: [
        0x3F, 0x59, 0x67, 0x2F, 0x20, 0xAA, 0x4A, 0xFE, 0xB6, 0xF4, 0x7E, 0x5E, 0x91, 0x6B, 0x6D, 0x98,
    ])

    /// Its name in the public lists; `nil` for other or unknown models.
    public var name: String? {
        switch self {
        case .keyCard: "Arculus FIDO2/U2F Key Card"
        case .keyCardP71: "Arculus FIDO 2.1 Key Card [P71]"
        default: nil
        }
    }
}
