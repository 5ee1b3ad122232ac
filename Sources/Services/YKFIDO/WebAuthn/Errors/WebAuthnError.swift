// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// Why a credential was not made or did not sign, as a WebAuthn client sees it.
public enum WebAuthnError: Error, Hashable, Sendable {
    /// The options or a response are no JSON text.
    case json(WireError)
    /// A member of the options or of a response is not what it has to be; nothing was sent to the key. `member` is its
    /// path, such as `user.id`.
    case member(String, problem: String, name: DOMExceptionName = .type)
    /// The text is no origin that may ask for credentials.
    case origin(String, OriginProblem)
    /// The origin may not ask for this relying party.
    case relyingParty(id: String, origin: String, RelyingPartyProblem)
    /// None of the kinds of credential that the relying party takes is known here.
    case noKnownAlgorithm
    /// The user chose none of several accounts.
    case noneChosen
    /// The key, or the way to it.
    case key(FIDOError)

    /// Lifts an error of the service; the only place that does.
    public init(_ error: FIDOError) { self = .key(error) }

    /// What the service said, when that is what failed.
    public var cause: FIDOError? { if case .key(let error) = self { error } else { nil } }
}

/// Why a text is no origin that may ask for credentials.
public enum OriginProblem: Hashable, Sendable {
    /// It does not have the form `https://host` or `https://host:port`.
    case malformed(String)
    /// Neither https nor http on this machine.
    case insecure
    /// The host has letters outside ASCII; an origin has them as Punycode (`xn--…`).
    case notPunycode
    /// The host is an address; credentials are for names.
    case address
}

/// Why an origin may not ask for a relying party.
public enum RelyingPartyProblem: Hashable, Sendable {
    /// The identifier is no domain name in small letters and Punycode.
    case notADomain
    /// The origin's host is not the identifier and does not end with it.
    case otherDomain
    /// Anybody can register names below the identifier, so it belongs to nobody (Public Suffix List).
    case publicSuffix
}

extension WebAuthnError: CustomStringConvertible {
    /// What is wrong, in a few words.
    public var description: String {
        switch self {
        case .json(let error): "not JSON: \(error)"
        case .member(let member, let problem, _): "\(member): \(problem)"
        case .origin(let text, let problem): "origin '\(text)': \(problem)"
        case .relyingParty(let id, let origin, let problem): "relying party '\(id)' at \(origin): \(problem)"
        case .noKnownAlgorithm: "pubKeyCredParams: no kind of credential that is known here"
        case .noneChosen: "none of the accounts was chosen"
        case .key(let error): "\(error)"
        }
    }
}

extension OriginProblem: CustomStringConvertible {
    /// What is wrong, in a few words.
    public var description: String {
        switch self {
        case .malformed(let reason): reason
        case .insecure: "only https, or http on localhost, may ask for credentials"
        case .notPunycode: "write letters outside ASCII as Punycode (xn--…)"
        case .address: "an address has no credentials, a name has"
        }
    }
}

extension RelyingPartyProblem: CustomStringConvertible {
    /// What is wrong, in a few words.
    public var description: String {
        switch self {
        case .notADomain: "not a domain name in small letters and Punycode"
        case .otherDomain: "the origin's host is neither this domain nor below it"
        case .publicSuffix: "anybody can register names below it"
        }
    }
}
