// SPDX-License-Identifier: Apache-2.0

import YKFIDO
import YKTransport
import YKWire

/// A passkey that a trial left on the key.
public struct TrialPasskey: Sendable {
    /// The name of the account, which the key lists.
    public let account: String
    /// The identifier of the credential.
    public var id: [UInt8] { record.id }
    /// The credential.
    var record: CredentialRecord
    /// Whether it supports a large blob.
    let hasLargeBlob: Bool
}

/// The relying party of a trial: creates the options of a step and verifies the browser's answer.
struct TrialVerifier {
    /// How a step begins.
    enum Beginning {
        /// The browser runs a ceremony with these options.
        case options(JSONValue)
        /// There is no ceremony to run.
        case result(TrialResult)
    }

    private let party: WebAuthnRelyingParty
    private let steps: [TrialStep]
    private let environment: ServiceEnvironment
    private var pending: (step: TrialStep, ceremony: Ceremony)?
    /// The credential created by the first step.
    private var credential: CredentialRecord?
    /// The passkey created by its step.
    private(set) var passkey: TrialPasskey?
    private var account = ""
    private var blob: [UInt8] = []
    /// The latest result of each step.
    private(set) var results: [TrialStep: TrialResult] = [:]

    /// The length of the large blob, in bytes.
    static let blobLength = 48

    /// The only session: one browser with one page.
    private static let session = "try"

    init(origin: String, steps: [TrialStep], _ environment: ServiceEnvironment) throws(WebAuthnError) {
        var party = try WebAuthnRelyingParty(
            id: "localhost", name: "ykit try", origins: [origin], ceremonies: MemoryCeremonies(),
            environment: environment)
        party.attestation = .indirect
        party.timeout = .seconds(120)
        self.party = party
        self.steps = steps
        self.environment = environment
    }

    /// Whether every step has a final result.
    var isComplete: Bool { steps.allSatisfy { results[$0]?.isFinal == true } }

    /// Begins a step.
    ///
    /// - Returns: `nil` for a step that is not part of the run, already has a final result, or depends on one that has
    ///   not passed.
    mutating func begin(_ step: TrialStep) throws -> Beginning? {
        guard steps.contains(step), results[step]?.isFinal != true else { return nil }
        if let before = step.prerequisite, results[before]?.outcome == .unsupported {
            return .result(note(TrialResult(step, .prerequisite(before))))
        }
        guard step.prerequisite.map({ results[$0]?.outcome == .passed }) ?? true else { return nil }
        if step == .largeBlobWrite, passkey?.hasLargeBlob != true {
            return .result(note(TrialResult(step, .noExtension("largeBlob"))))
        }
        if step.isRegistration { return .options(try registration(step)) }
        return .options(try authentication(step))
    }

    private mutating func registration(_ step: TrialStep) throws -> JSONValue {
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

    private mutating func authentication(_ step: TrialStep) throws -> JSONValue {
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
            blob = try environment.random.draw(Self.blobLength, secret: false)
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
    private func expected(_ step: TrialStep) -> CredentialRecord? {
        switch step {
        case .passkeySignIn, .largeBlobWrite, .largeBlobRead: passkey?.record
        default: credential
        }
    }

    /// Verifies the browser's answer.
    ///
    /// - Parameters:
    ///   - answer: RegistrationResponseJSON or AuthenticationResponseJSON, or `nil` if the browser threw an error.
    ///   - error: The name of that error.
    /// - Returns: `nil` if the step was not begun.
    mutating func finish(_ step: TrialStep, answer: [UInt8]?, error: String?) -> TrialResult? {
        guard let (begun, ceremony) = pending, begun == step else { return nil }
        pending = nil
        guard let answer else { return note(Self.result(step, refusal: DOMExceptionName(error ?? ""))) }
        do throws(CeremonyError) {
            guard environment.clock.now < ceremony.expires else { throw .expired }
            return note(
                try step.isRegistration ? registered(step, answer, ceremony) : authenticated(step, answer, ceremony))
        } catch .extension(let name) {
            return note(TrialResult(step, .noExtension(name)))
        } catch {
            return note(TrialResult(step, .ceremony(error)))
        }
    }

    private mutating func note(_ result: TrialResult) -> TrialResult {
        results[result.step] = result
        return result
    }

    /// The result of a step that the browser refused (WebAuthn Level 3 §5.1.3, §5.1.4).
    private static func result(_ step: TrialStep, refusal: DOMExceptionName) -> TrialResult {
        if step == .signUpAgain, refusal == .invalidState { return TrialResult(passed: step, nil) }
        return TrialResult(step, .browser(refusal))
    }

    private mutating func registered(
        _ step: TrialStep, _ answer: [UInt8], _ ceremony: Ceremony
    ) throws(CeremonyError) -> TrialResult {
        let response: RegistrationResponse
        do { response = try RegistrationResponse(parsing: answer) } catch { throw .malformed(error) }
        let verified = try party.verify(response, ceremony)
        switch step {
        case .signUpAgain: return TrialResult(step, .registeredTwice)
        case .passkey:
            if verified.extensions.isDiscoverable == false { return TrialResult(step, .notDiscoverable) }
            passkey = TrialPasskey(
                account: account, record: verified.record, hasLargeBlob: verified.extensions.hasLargeBlob == true)
        case .attestation:
            if verified.format == AttestationFormat.none { return TrialResult(step, .attestationWithheld) }
        default: credential = verified.record
        }
        return TrialResult(passed: step, TrialResponse(response, verified))
    }

    private mutating func authenticated(
        _ step: TrialStep, _ answer: [UInt8], _ ceremony: Ceremony
    ) throws(CeremonyError) -> TrialResult {
        let response: AuthenticationResponse
        do { response = try AuthenticationResponse(parsing: answer) } catch { throw .malformed(error) }
        guard let record = expected(step), response.id == record.id else { return TrialResult(step, .otherCredential) }
        let verified = try party.verify(response, record, ceremony)
        if record.id == credential?.id { credential = verified.record } else { passkey?.record = verified.record }
        switch step {
        case .prf:
            // The page reports the lengths of the secrets, which stay in the browser.
            let made = response.clientExtensionResults["prf"]
            let lengths = made?["lengths"]?.array?.compactMap(\.int) ?? []
            guard !lengths.isEmpty else { return TrialResult(step, .noExtension("prf")) }
            guard lengths == [32, 32], made?["different"]?.bool == true else { return TrialResult(step, .badSecrets) }
        case .largeBlobRead:
            guard verified.largeBlob == blob else { return TrialResult(step, .badBlob) }
        default: break
        }
        return TrialResult(passed: step, TrialResponse(response))
    }
}
