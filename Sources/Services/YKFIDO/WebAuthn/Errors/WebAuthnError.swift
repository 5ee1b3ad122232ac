// SPDX-License-Identifier: Apache-2.0

public import YKTransport
public import YKWire

/// Why a WebAuthn client could not create a credential or get an assertion.
public enum WebAuthnError: Error, Hashable, Sendable {
    /// The options or a response are not valid JSON.
    case json(WireError)
    /// A member of the options or of a response is invalid; nothing was sent to the key. `member` is its path, such as
    /// `user.id`.
    case member(String, problem: String, name: DOMExceptionName = .type)
    /// The string is not an origin that may request credentials.
    case origin(String, OriginProblem)
    /// The origin is not allowed to make requests for this relying party.
    case relyingParty(id: String, origin: String, RelyingPartyProblem)
    /// None of the relying party's credential types and algorithms is supported.
    case noKnownAlgorithm
    /// The user chose no account.
    case noneChosen
    /// The key or its transport failed.
    case key(FIDOError)

    /// Lifts an error of the service; the only place that does.
    public init(_ error: FIDOError) { self = .key(error) }

    /// The service's error, for ``key(_:)``.
    public var cause: FIDOError? { if case .key(let error) = self { error } else { nil } }
}

/// Why a string is not an origin that may request credentials.
public enum OriginProblem: Hashable, Sendable {
    /// It does not have the form `https://host` or `https://host:port`.
    case malformed(String)
    /// Neither https nor http on localhost.
    case insecure
    /// The host has characters outside ASCII; an origin has them as Punycode (`xn--…`).
    case notPunycode
    /// The host is an IP address; credentials require a domain name.
    case address
}

/// Why an origin is not allowed to make requests for a relying party.
public enum RelyingPartyProblem: Hashable, Sendable {
    /// The identifier is not a domain name in lower case and Punycode.
    case notADomain
    /// The origin's host is neither the identifier nor a subdomain of it.
    case otherDomain
    /// The identifier is a public suffix, under which anyone can register names (Public Suffix List).
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
        case .noKnownAlgorithm: "pubKeyCredParams: no supported credential type and algorithm"
        case .noneChosen: "no account was chosen"
        case .key(let error): "\(error)"
        }
    }
}

extension OriginProblem: CustomStringConvertible {
    /// What is wrong, in a few words.
    public var description: String {
        switch self {
        case .malformed(let reason): reason
        case .insecure: "only https, or http on localhost, may request credentials"
        case .notPunycode: "write letters outside ASCII as Punycode (xn--…)"
        case .address: "credentials require a domain name, not an IP address"
        }
    }
}

extension RelyingPartyProblem: CustomStringConvertible {
    /// What is wrong, in a few words.
    public var description: String {
        switch self {
        case .notADomain: "not a domain name in lower case and Punycode"
        case .otherDomain: "the origin's host is neither this domain nor below it"
        case .publicSuffix: "anyone can register names under it"
        }
    }
}

extension WebAuthnError: CardCaused {
    /// The failure of the card or link, for ``key(_:)``.
    public var cardCause: CardError? { cause?.cardCause }
}

extension WebAuthnError {
    /// A browser's name for this error.
    public var name: DOMExceptionName {
        switch self {
        case .json: .syntax
        case .member(_, _, let name): name
        case .origin, .relyingParty: .security
        case .noKnownAlgorithm: .notSupported
        case .noneChosen: .notAllowed
        case .key(let error): Self.name(of: error)
        }
    }

    private static func name(of error: FIDOError) -> DOMExceptionName {
        switch error {
        case .credentialExcluded: .invalidState
        case .unsupported("rk"), .unsupported("uv"): .constraint
        case .unsupported("plat"): .notAllowed
        case .unsupported: .notSupported
        case .ctap(let error): name(of: error)
        case .largeBlobs, .unsuitablePIN: .unknown
        default: .notAllowed
        }
    }

    private static func name(of error: CTAPError) -> DOMExceptionName {
        switch error {
        case .status(.unsupportedAlgorithm, _): .notSupported
        case .status(.unsupportedOption, _), .status(.invalidOption, _): .constraint
        case .status(.keepaliveCancel, _): .abort
        case .link(.notTouched): .notAllowed
        case .link(let error): error.link.map(name) ?? .unknown
        default: .unknown
        }
    }

    private static func name(of error: LinkError) -> DOMExceptionName {
        switch error {
        case .cancelled: .abort
        case .timedOut: .notAllowed
        default: .unknown
        }
    }
}

/// A browser's name for an error (Web IDL §2.8.1, WebAuthn Level 3 §5.1.3.1 and §5.1.4.3).
public struct DOMExceptionName: OpenSet {
    /// The name.
    public let rawValue: String
    /// Wraps a name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// A member of the options is missing or of the wrong type.
    public static let type = DOMExceptionName(rawValue: "TypeError")
    /// A string has the wrong syntax.
    public static let syntax = DOMExceptionName(rawValue: "SyntaxError")
    /// The origin is not allowed to make requests, or not for this relying party.
    public static let security = DOMExceptionName(rawValue: "SecurityError")
    /// The user or the key refused, or the request timed out.
    public static let notAllowed = DOMExceptionName(rawValue: "NotAllowedError")
    /// The key has one of the excluded credentials.
    public static let invalidState = DOMExceptionName(rawValue: "InvalidStateError")
    /// The key lacks required support for discoverable credentials or user verification.
    public static let constraint = DOMExceptionName(rawValue: "ConstraintError")
    /// A requested feature is not supported.
    public static let notSupported = DOMExceptionName(rawValue: "NotSupportedError")
    /// The operation was cancelled.
    public static let abort = DOMExceptionName(rawValue: "AbortError")
    /// Anything else.
    public static let unknown = DOMExceptionName(rawValue: "UnknownError")

}
