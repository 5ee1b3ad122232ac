// SPDX-License-Identifier: Apache-2.0

import YKTransport

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
