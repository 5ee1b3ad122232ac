// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

extension OATHError {
    /// Lifts a card error into its OATH meaning; the only place that does.
    init(_ error: CardError, info: OATHInfo) {
        switch error {
        case .status(let status, let command):
            self = Self.meaning(status, of: command, info: info) ?? .card(error)
        case .malformed(let cause, during: Validate.name):
            self = .notAuthentic(cause)
        default:
            self = .card(error)
        }
    }

    private static func meaning(_ status: StatusWord, of command: String, info: OATHInfo) -> OATHError? {
        switch (command, status) {
        case (Validate.name, .incorrectParameters), (Validate.name, .securityStatusNotSatisfied): .wrongPassword
        case (Calculate.name, .conditionsNotSatisfied): .touchTimeout
        case (Calculate.name, .securityStatusNotSatisfied): info.isLocked ? .locked : .touchTimeout
        case (PutAccount.name, .conditionsNotSatisfied): .notApproved
        case (SetAccessKey.name, .conditionsNotSatisfied): .passwordRequired
        case (_, .securityStatusNotSatisfied): .locked
        // pico-fido refuses a wrong password with the status for an application without one.
        case (Validate.name, .dataInvalid): info.isLocked ? .wrongPassword : nil
        case (SetAccessKey.name, .dataInvalid): nil
        case (_, .dataInvalid), (_, .notFound): .noSuchAccount
        case (_, .noSpace): .full
        case (_, .memoryFailure): .damaged
        case (RenameAccount.name, .unknownInstruction), (RenameAccount.name, .functionNotSupported):
            unsupported(.rename, info: info)
        default: nil
        }
    }

    static func unsupported(_ feature: OATHFeature, info: OATHInfo) -> OATHError {
        .unsupported(feature, needs: feature.firstVersion, has: info.isYubiKey ? info.version : nil)
    }

    /// Whether the key can answer no further commands after this error; a recording that lacks one exchange may have
    /// others.
    var endsSession: Bool {
        guard case .card(.link(let cause)) = self else { return false }
        if case .replay = cause { return false }
        return true
    }
}
