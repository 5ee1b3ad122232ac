// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKTransport
package import YKWire

/// The session state of a service: the key's capabilities, and the token that it issued.
final class FIDOSession {
    let ctap: CTAPSession
    var interaction: FIDOInteraction
    private var cachedInfo: AuthenticatorInfo?
    var token: FIDOToken?
    /// The persistent token that only permits listing credentials.
    var persistentToken: FIDOToken?
    /// The key's public key of the latest key agreement, reusable until the key is reset or locked.
    var peerKey: (version: PINProtocol, generation: Int, key: COSEKey)?
    /// The number of tokens the key has issued.
    var tokensGiven = 0
    let isCTAP2: Bool

    /// Reads the key's capabilities; a U2F-only key has none to report.
    init(
        _ link: sending any FIDOLink, _ interaction: FIDOInteraction, _ runtime: ServiceRuntime,
        _ progress: Broadcast<FIDOKeepalive>
    ) throws(FIDOError) {
        ctap = CTAPSession(link, runtime, progress: progress, touch: interaction.touch)
        self.interaction = interaction
        guard ctap.link.profile.hasCTAP2, !interaction.usesU2FOnly else {
            isCTAP2 = false
            return
        }
        do {
            let info = try ctap.send(GetInfo())
            ctap.messageLimit = info.maxMessageSize
            cachedInfo = info
            isCTAP2 = info.versions != [.u2fV2]
        } catch {
            guard error.saysNoCTAP2, ctap.link.profile.hasU2F else { throw FIDOError(error) }
            isCTAP2 = false
        }
    }

    /// Runs an operation within a time limit; without one, each message has the environment's timeout.
    func within<Value>(_ time: Duration?, _ body: () throws(FIDOError) -> Value) throws(FIDOError) -> Value {
        ctap.limit = time.map { .after($0, cancellation: ctap.environment.cancellation) }
        defer { ctap.limit = nil }
        return try body()
    }

    /// Sends a command and lifts its error.
    func send<Command: CTAPCommand>(_ command: Command) throws(FIDOError) -> Command.Response {
        do { return try ctap.send(command) } catch { throw FIDOError(error) }
    }

    /// The key's capabilities, read again after a change.
    func info() throws(FIDOError) -> AuthenticatorInfo {
        if let cachedInfo { return cachedInfo }
        guard isCTAP2 else { throw .unsupported("FIDO2") }
        let info = try send(GetInfo())
        cachedInfo = info
        ctap.messageLimit = info.maxMessageSize
        return info
    }

    /// Discards the cached capabilities, so that they are read again.
    func infoDidChange() { cachedInfo = nil }

    /// Discards everything that a reset or a new PIN invalidates.
    func accessDidChange() {
        token = nil
        persistentToken = nil
        peerKey = nil
        cachedInfo = nil
    }

    /// The PIN/UV auth protocol to use with this key.
    func pinProtocol() throws(FIDOError) -> PINProtocol {
        let info = try info()
        if let version = PINProtocol(preferredBy: info) { return version }
        guard info.pinProtocols.isEmpty, info.takesPIN else { throw .unsupported("pinUvAuthProtocols") }
        return .one  // Keys of CTAP 2.0 do not have to name it.
    }
}

extension CTAPError {
    /// Whether the key does not support getInfo, and so not CTAP2: a U2F-only card answers with a status word that
    /// differs between vendors.
    fileprivate var saysNoCTAP2: Bool {
        switch self {
        case .status(.invalidCommand, _), .link(.refused(.invalidCommand)): true
        case .link(.card(.status(let word, _))): Self.noCTAP2.contains(word)
        default: false
        }
    }

    /// The status words with which a card that supports only U2F answers getInfo.
    package static let noCTAP2: [StatusWord] = [
        .unknownInstruction, .unknownClass, .functionNotSupported, .commandNotAllowed, .wrongParameters,
        .incorrectP1P2, .wrongLength, .incorrectParameters, .conditionsNotSatisfied,
    ]
}

extension FIDOSession {
    /// Waits for a touch, with the selection command if the key has it.
    func select() throws(FIDOError) {
        if isCTAP2, try info().versions.contains(where: { !Self.withoutSelection.contains($0) }) {
            do { return try send(SelectAuthenticator()) } catch .ctap(.status(.invalidCommand, _)) {}
        }
        try selectByCredential()
    }

    /// Versions without the command; all later versions have it, including unknown ones.
    private static let withoutSelection: [AuthenticatorVersion] = [.u2fV2, .fido20, .fido21Pre]

    /// Waits for a touch on a key without the selection command: an empty pinUvAuthParam makes a CTAP 2.0 key wait for
    /// a touch and then report whether a PIN is set (CTAP 2.2 §6.1.2, step 1); a U2F key creates a credential that is
    /// discarded.
    private func selectByCredential() throws(FIDOError) {
        guard isCTAP2 else { return try touchU2F() }
        var command = MakeCredential(
            clientDataHash: [UInt8](repeating: 0, count: 32), relyingParty: RelyingParty(id: "ykit.invalid"),
            user: FIDOUser(id: [0], name: "nobody"), algorithms: [.es256])
        command.auth = PINUVAuth(parameter: [], version: try pinProtocolNumber())
        do { _ = try ctap.send(command) } catch {
            let isTouched: [CTAPStatus] = [.pinNotSet, .pinInvalid, .pinAuthInvalid, .pinPolicyViolation]
            guard let status = error.status, isTouched.contains(status) else { throw FIDOError(error) }
        }
    }

    private func pinProtocolNumber() throws(FIDOError) -> UInt64 { try info().pinProtocols.first ?? 1 }
}
