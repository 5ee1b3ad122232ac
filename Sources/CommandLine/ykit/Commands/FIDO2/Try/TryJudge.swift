// SPDX-License-Identifier: Apache-2.0

import YKFIDO
import YKRelyingParty
import YKTransport
import YKWire

/// The relying party of `fido2 try`: creates the options of a step and judges the browser's answer.
struct TryJudge {
    /// How a step begins.
    enum Beginning {
        /// The browser runs a ceremony with these options.
        case options(JSONValue)
        /// There is no ceremony to run.
        case verdict(TryVerdict)
    }

    /// A passkey stored on the key.
    struct Passkey {
        var record: CredentialRecord
        /// The account name that the key lists.
        let account: String
        /// Whether it supports a large blob.
        let hasLargeBlob: Bool

        var id: [UInt8] { record.id }
    }

    private let party: WebAuthnRelyingParty
    private let steps: [TryStep]
    private let environment: ServiceEnvironment
    private var pending: (step: TryStep, ceremony: Ceremony)?
    /// The credential created by the first step.
    private var credential: CredentialRecord?
    /// The passkey created by its step.
    private(set) var passkey: Passkey?
    private var account = ""
    private var blob: [UInt8] = []
    /// The latest verdict of each step.
    private(set) var verdicts: [TryStep: TryVerdict] = [:]

    /// The only session: one browser with one page.
    private static let session = "try"

    init(origin: String, steps: [TryStep], _ environment: ServiceEnvironment) throws(WebAuthnError) {
        var party = try WebAuthnRelyingParty(
            id: "localhost", name: "ykit try", origins: [origin], ceremonies: MemoryCeremonies(),
            environment: environment)
        party.attestation = .indirect
        party.timeout = .seconds(120)
        self.party = party
        self.steps = steps
        self.environment = environment
    }

    /// Whether every step has a final verdict.
    var isComplete: Bool { steps.allSatisfy { verdicts[$0]?.isFinal == true } }

    /// Begins a step.
    ///
    /// - Returns: `nil` for a step that is not part of the run, already has a final verdict, or depends on one that has
    ///   not passed.
    mutating func begin(_ step: TryStep) throws -> Beginning? {
        guard steps.contains(step), verdicts[step]?.isFinal != true else { return nil }
        if let needed = step.needed, let before = verdicts[needed]?.outcome, before == .unsupported {
            return .verdict(note(TryVerdict(step, .unsupported, "the step '\(needed.rawValue)' is not supported")))
        }
        guard step.needed.map({ verdicts[$0]?.outcome == .passed }) ?? true else { return nil }
        if step == .largeBlobWrite, passkey?.hasLargeBlob != true {
            return .verdict(note(TryVerdict(step, .unsupported, "this key, or this browser, has no largeBlob")))
        }
        if step.isRegistration { return .options(try registration(step)) }
        return .options(try authentication(step))
    }

    private mutating func registration(_ step: TryStep) throws -> JSONValue {
        var wanted = RegistrationRequirements()
        wanted.selection = AuthenticatorSelection(attachment: .crossPlatform, userVerification: .discouraged)
        wanted.hints = [.securityKey]
        if step == .signUp, steps.contains(.prf) { wanted.extensions.prf = PRFInput() }
        if step == .passkey {
            wanted.selection.residentKey = .required
            wanted.selection.userVerification = .preferred
            if steps.contains(.largeBlobWrite) { wanted.extensions.largeBlob = .preferred }
        }
        account = "ykit try " + Hex.encode(try environment.random.draw(2, secret: false))
        let user = FIDOUser(id: try environment.random.draw(16, secret: false), name: account, displayName: account)
        let known = step == .signUpAgain ? [credential].compactMap { $0 } : []
        var (options, ceremony) = try party.registration(
            of: user, session: Self.session, excluding: known, wanted)
        options.attestation = step == .attestation ? .direct : AttestationConveyance.none
        pending = (step, ceremony)
        return options.json
    }

    private mutating func authentication(_ step: TryStep) throws -> JSONValue {
        var wanted = AuthenticationRequirements()
        // Chromium has keys require verification for passkeys that were made with it (credProtect 3).
        wanted.userVerification =
            switch step {
            case .pin: .required
            case .passkeySignIn, .largeBlobWrite, .largeBlobRead: .preferred
            default: .discouraged
            }
        wanted.hints = [.securityKey]
        switch step {
        case .prf:
            wanted.extensions.prf = PRFInput(
                first: try environment.random.draw(32, secret: false),
                second: try environment.random.draw(32, secret: false))
        case .largeBlobWrite:
            blob = try environment.random.draw(48, secret: false)
            wanted.extensions.largeBlob = .write(blob)
        case .largeBlobRead: wanted.extensions.largeBlob = .read
        default: break
        }
        let allowed = step == .passkeySignIn ? nil : expected(step)
        let (options, ceremony) = try party.authentication(
            of: allowed?.user, session: Self.session, allowing: [allowed].compactMap { $0 }, wanted)
        pending = (step, ceremony)
        return options.json
    }

    /// The credential that a step uses.
    private func expected(_ step: TryStep) -> CredentialRecord? {
        switch step {
        case .passkeySignIn, .largeBlobWrite, .largeBlobRead: passkey?.record
        default: credential
        }
    }

    /// Judges the browser's answer.
    ///
    /// - Parameters:
    ///   - answer: RegistrationResponseJSON or AuthenticationResponseJSON, or `nil` if the browser threw an error.
    ///   - error: The name of that error.
    /// - Returns: `nil` if the step was not begun.
    mutating func finish(_ step: TryStep, answer: [UInt8]?, error: String?) -> TryVerdict? {
        guard let (begun, ceremony) = pending, begun == step else { return nil }
        pending = nil
        guard let answer else { return note(Self.verdict(step, refusal: error ?? "")) }
        do {
            guard environment.clock.now < ceremony.expires else { throw CeremonyError.expired }
            if step.isRegistration { return note(try registered(step, answer, ceremony)) }
            return note(try authenticated(step, answer, ceremony))
        } catch CeremonyError.extension(let name) {
            return note(TryVerdict(step, .unsupported, "this key, or this browser, has no \(name)"))
        } catch {
            return note(TryVerdict(step, .failed, (error as? CeremonyError)?.description ?? "\(error)"))
        }
    }

    private mutating func note(_ verdict: TryVerdict) -> TryVerdict {
        verdicts[verdict.step] = verdict
        return verdict
    }

    private mutating func registered(
        _ step: TryStep, _ answer: [UInt8], _ ceremony: Ceremony
    ) throws -> TryVerdict {
        let response = try RegistrationResponse(parsing: answer)
        let verified = try party.verify(response, ceremony)
        let record = verified.record
        var verdict = TryVerdict(step, .passed)
        verdict.describe(response, verified)
        switch step {
        case .signUpAgain:
            return TryVerdict(
                step, .failed, "a credential was made, although the key has one already",
                hint: "was another key touched?")
        case .passkey:
            if verified.extensions.isDiscoverable == false {
                return TryVerdict(step, .unsupported, "the key did not store the credential")
            }
            passkey = Passkey(
                record: record, account: account, hasLargeBlob: verified.extensions.hasLargeBlob == true)
        case .attestation:
            if verified.format == AttestationFormat.none {
                return TryVerdict(step, .unsupported, "the browser kept the attestation for itself")
            }
        default: credential = record
        }
        return verdict
    }

    private mutating func authenticated(
        _ step: TryStep, _ answer: [UInt8], _ ceremony: Ceremony
    ) throws -> TryVerdict {
        let response = try AuthenticationResponse(parsing: answer)
        guard let record = expected(step), response.id == record.id else {
            return TryVerdict(
                step, .failed, "the answer is of another credential",
                hint: step == .passkeySignIn
                    ? "a passkey of an earlier run? 'ykit fido2 credentials list' shows those for localhost" : nil)
        }
        let verified = try party.verify(response, record, ceremony)
        if record.id == credential?.id { credential = verified.record } else { passkey?.record = verified.record }
        var verdict = TryVerdict(step, .passed)
        verdict.describe(response)
        switch step {
        case .prf:
            // The page reports the lengths of the secrets, which stay in the browser.
            let made = response.clientExtensionResults["prf"]
            let lengths = made?["lengths"]?.array?.compactMap(\.int) ?? []
            guard !lengths.isEmpty else {
                return TryVerdict(step, .unsupported, "this key, or this browser, has no prf")
            }
            guard lengths == [32, 32], made?["different"]?.bool == true else {
                return TryVerdict(step, .failed, "the secrets are not two different ones of 32 bytes")
            }
            verdict.details.append(("secrets", "two, of 32 bytes each"))
        case .largeBlobRead:
            guard verified.largeBlob == blob else {
                return TryVerdict(step, .failed, "the bytes that were read are not those that were stored")
            }
            verdict.details.append(("data", "\(blob.count) bytes, as they were stored"))
        default: break
        }
        return verdict
    }

    /// Interprets a browser error (WebAuthn Level 3 §5.1.3, §5.1.4).
    private static func verdict(_ step: TryStep, refusal error: String) -> TryVerdict {
        switch error {
        case "InvalidStateError" where step == .signUpAgain:
            var verdict = TryVerdict(step, .passed)
            verdict.details = [("browser", "the key is registered already (InvalidStateError)")]
            return verdict
        case "NotAllowedError":
            let pin = "does the key have a PIN? 'ykit fido2 info' tells; 'ykit fido2 pin set' sets one"
            let key =
                "touched in time? If the browser did not see the key, 'ykit doctor' finds out why; a browser from snap or "
                + "flatpak needs to be given access to keys (U2F devices)"
            return TryVerdict(
                step, .unanswered, "the browser gave up or was cancelled (NotAllowedError)",
                hint: step == .pin ? pin : key)
        case "ConstraintError", "NotSupportedError":
            return TryVerdict(step, .unsupported, "the browser says that the key cannot do this (\(error))")
        case "TypeError", "no-webauthn":
            return TryVerdict(step, .unsupported, "this browser is too old for this page, or has no WebAuthn")
        default:
            return TryVerdict(step, .failed, "the browser refused: \(error.isEmpty ? "no reason" : error)")
        }
    }
}

extension TryVerdict {
    fileprivate mutating func describe(_ response: RegistrationResponse, _ verified: VerifiedRegistration) {
        let record = verified.record
        let data = response.attestationObject.authenticatorData
        let isAnonymous = record.aaguid.allSatisfy { $0 == 0 }
        let transports = record.transports.map(\.rawValue)
        details = [
            ("user", data.flags.words), ("algorithm", record.publicKey.algorithm?.description ?? "unknown"),
            ("model", isAnonymous ? "not told" : "AAGUID \(AuthenticatorReport.uuid(record.aaguid))"),
            ("attestation", "\(verified.format.rawValue), vouched for by \(verified.trust.words(false))"),
            ("transports", transports.isEmpty ? "not told" : transports.listed()),
        ]
        members["algorithm"] = record.publicKey.algorithm.map { .string($0.description) }
        members["format"] = .string(verified.format.rawValue)
        members["trust"] = .string(verified.trust.word(false))
        members["aaguid"] = .string(AuthenticatorReport.uuid(record.aaguid))
        members["transports"] = .array(transports.map(JSONValue.string))
        describe(record.id, data, response.clientExtensionResults)
    }

    fileprivate mutating func describe(_ response: AuthenticationResponse) {
        let data = response.authenticatorData
        details = [("user", data.flags.words), ("signatures so far", String(data.counter))]
        describe(response.id, data, response.clientExtensionResults)
    }

    private mutating func describe(_ id: [UInt8], _ data: AuthenticatorData, _ extensions: JSONValue.Object) {
        members["credentialId"] = .bytes(id)
        members["flags"] = .array(data.flags.names.map(JSONValue.string))
        members["counter"] = .int(Int64(data.counter))
        members["extensions"] = .object(extensions)
        for result in extensions.members {
            details.append((result.key, result.value.text))
        }
    }
}
