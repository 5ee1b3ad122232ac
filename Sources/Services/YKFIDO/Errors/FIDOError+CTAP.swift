// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

extension FIDOError {
    /// Lifts a CTAP error into its FIDO meaning; the only place that does.
    init(_ error: CTAPError) {
        self =
            switch error {
            case .status(let status, let command):
                Self.meanings[status] ?? Self.meaning(status, of: command) ?? .ctap(error)
            case .link(.notTouched): .touchTimeout
            case .u2fStatus(.securityStatusNotSatisfied, "U2F REGISTER"): .u2fPIN(.needed)
            default: .ctap(error)
            }
    }

    private static let meanings: [CTAPStatus: FIDOError] = [
        .pinInvalid: .wrongPIN(nil), .pinAuthBlocked: .pinNeedsPowerCycle, .pinBlocked: .pinBlocked,
        .pinNotSet: .pinNotSet, .pinUvAuthTokenRequired: .pinNeeded, .uvInvalid: .userNotRecognised,
        .uvBlocked: .userVerificationBlocked, .userActionTimeout: .touchTimeout, .actionTimeout: .touchTimeout,
        .operationDenied: .denied, .noCredentials: .noCredentials, .credentialExcluded: .credentialExcluded,
        .keyStoreFull: .full,
    ]

    /// Whether the key can answer no further commands after this error; a recording that lacks one exchange may have
    /// others.
    public var endsSession: Bool {
        guard case .ctap(.link(let failure)) = self else { return false }
        if case .card(.secureChannel) = failure { return true }
        guard let link = failure.link else { return false }
        if case .replay = link { return false }
        return true
    }

    private static func meaning(_ status: CTAPStatus, of command: String) -> FIDOError? {
        switch status {
        case .pinPolicyViolation:
            command == "clientPIN setPIN" || command == "clientPIN changePIN" ? .pinRefused : .pinChangeForced
        case .notAllowed: .notAllowed(command)
        case .integrityFailure where command.hasPrefix("largeBlobs"): .largeBlobs(.damaged)
        default: nil
        }
    }
}
