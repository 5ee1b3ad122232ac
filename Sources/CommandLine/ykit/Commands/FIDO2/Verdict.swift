// SPDX-License-Identifier: Apache-2.0

import YKFIDO
import YKWire

/// The result of a verification, for people and for programs.
struct Verdict {
    private let evidence: Evidence
    /// The relying party it was verified for.
    var rpID: String?
    /// The origin in the client data.
    var origin: String?
    /// The trust in a credential's attestation.
    var trust: AttestationVerification.Trust?
    /// Whether trust anchors were given.
    var isAnchored = false
    /// The checks that were not requested.
    var notChecked: [String] = []
    private var reason: String?

    init(_ evidence: Evidence) { self.evidence = evidence }

    /// Whether it is a registration.
    var isRegistration: Bool { if case .registration = evidence.content { true } else { false } }

    private var data: AuthenticatorData {
        switch evidence.content {
        case .registration(let object): object.authenticatorData
        case .assertion(let data, _): data
        }
    }

    /// Sets the reason for the failure.
    mutating func refuse(_ reason: String) { self.reason = reason }

    func answer(isLibFIDO2: Bool) -> Answer {
        let kind = isRegistration ? "registration" : "assertion"
        var answer = Answer(lines(kind, isLibFIDO2), [:])
        answer.members["verified"] = .bool(reason == nil)
        answer.members["reason"] = reason.map(JSON.string)
        answer.members["kind"] = .string(kind)
        answer.members["rpId"] = rpID.map(JSON.string)
        answer.members["origin"] = origin.map(JSON.string)
        answer.members["credentialId"] = evidence.credentialID.map { .string(Base64.encodeURL($0)) }
        if case .registration(let object) = evidence.content {
            answer.members["format"] = .string(object.format.rawValue)
            answer.members["publicKeyPem"] = data.credential?.publicKey.pem.map(JSON.string)
        }
        answer.members["trust"] = trust.map { .string($0.word(isAnchored)) }
        answer.members["flags"] = .array(data.flags.names.map(JSON.string))
        answer.members["counter"] = .int(Int64(data.counter))
        answer.members["notChecked"] = .array(notChecked.map(JSON.string))
        if let reason {
            answer.failure = Explanation("not-verified", .authentication, "the \(kind) does not verify: \(reason)")
        }
        return answer
    }

    private func lines(_ kind: String, _ isLibFIDO2: Bool) -> [String] {
        guard reason == nil else { return [] }
        if isLibFIDO2 {
            guard isRegistration, let credential = data.credential else { return [] }
            return [LibFIDO2Lines.line(credential.id), (credential.publicKey.pem ?? "").trimmed]
        }
        var words = "the \(kind) is \(Style.green.around("right"))"
        if let rpID { words += ", for \(rpID.printable)" }
        let missed = notChecked.isEmpty ? [] : ["not checked: \(notChecked.joined(separator: ", "))"]
        return [words] + (trust.map { ["vouched for by \($0.words(isAnchored))"] } ?? []) + missed
    }
}

extension AttestationVerification.Trust {
    /// The keyword for programs.
    func word(_ isAnchored: Bool) -> String {
        switch self {
        case .none: "none"
        case .selfSigned: "self"
        case .certificates: isAnchored ? "anchored" : "certificates"
        }
    }

    /// The description for people.
    func words(_ isAnchored: Bool) -> String {
        switch self {
        case .none: "nothing"
        case .selfSigned: "the credential's own key"
        case .certificates(let chain):
            "\(chain.count == 1 ? "a certificate" : "\(chain.count) certificates"), \(isAnchored ? "by one that is trusted" : "not checked against a root")"
        }
    }
}
