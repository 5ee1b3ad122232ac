// SPDX-License-Identifier: Apache-2.0

import YKFIDO
import YKTransport

extension ArculusError {
    /// Arculus' code for this error; without one, 601 for the card, or the HTTP status.
    public var code: ArculusCode {
        switch self {
        case .card(let error, let step): Self.code(error, step)
        case .reader(let error): Self.code(error)
        case .otherCard, .notArculus, .configuration: .unknown
        case .pinInDoubt: .pinFailed
        case .changeInDoubt: .tagLost
        case .unsuitablePIN: .setPINFailed
        case .server(let refusal): refusal.code
        case .http, .reply: .unknown
        }
    }

    /// The result in the form of the SDK.
    public var result: ArculusResult {
        switch self {
        case .server(let refusal): refusal.result
        case .http, .reply, .configuration:
            ArculusResult(status: .failed, errorMessage: "\(self)", statuscode: "0", responseCode: 0)
        default:
            ArculusResult(
                status: .failed, errorMessage: "\(self)", statuscode: code.rawValue, responseCode: code.number ?? 0)
        }
    }

    private static func code(_ error: WebAuthnError, _ step: ArculusStep) -> ArculusCode {
        switch error {
        case .key(let error): code(error, step)
        case .noneChosen: .userNotFound
        default: .unknown
        }
    }

    private static func code(_ error: FIDOError, _ step: ArculusStep) -> ArculusCode {
        switch error {
        case .ctap(.link(let error)): return error.link.map(code) ?? .transmitFailed
        case .ctap(.status(_, "clientPIN getKeyAgreement")), .ctap(.malformed(_, "clientPIN getKeyAgreement")):
            return .publicKeyFailed
        case .wrongPIN, .pinNeedsPowerCycle, .pinBlocked, .pinNeeded, .pinNotSet, .pinChangeForced: return .pinFailed
        case .noCredentials: return .noCredentials
        case .full: return .storeFull
        case .unsuitablePIN, .pinRefused, .pinAlreadySet: return .setPINFailed
        default: break
        }
        return switch step {
        case .resetting: .resetFailed
        case .settingPIN: .setPINFailed
        case .authenticating: .signatureFailed
        case .opening, .registering: .unknown
        }
    }

    private static func code(_ error: LinkError) -> ArculusCode {
        switch error {
        case .removed, .reset, .unresponsive, .noCard: .tagLost
        case .serviceNotInstalled, .usbLibraryNotInstalled, .serviceNotRunning, .noReader, .unknownReader,
            .accessDenied, .serviceMismatch, .noDevice:
            .noReader
        default: .transmitFailed
        }
    }
}

extension ArculusError: CustomStringConvertible {
    /// A short description of the error.
    public var description: String {
        switch self {
        case .card(.key, let step): "\(step.words): \(code.meaning ?? "failed")"
        case .card(let error, let step): "\(step.words): \(error)"
        case .reader(let error): "\(code.meaning ?? "no card"): \(error)"
        case .otherCard: "a different card than before"
        case .notArculus: "not an Arculus card"
        case .pinInDoubt(let retries): "the card was lost while it checked the PIN, \(retries.count) tries left"
        case .changeInDoubt: "the card was lost while its PIN was changed"
        case .unsuitablePIN(.tooShort(let count)): "a PIN of \(count) characters; an Arculus card requires at least 6"
        case .unsuitablePIN(.notDigits): "the PIN of an Arculus card must consist of digits"
        case .server(let refusal): refusal.message
        case .http(let error): "\(error)"
        case .reply(let problem), .configuration(let problem): problem
        }
    }
}

extension ArculusStep {
    fileprivate var words: String {
        switch self {
        case .opening: "reading the card"
        case .registering: "registering"
        case .authenticating: "authenticating"
        case .resetting: "resetting the card"
        case .settingPIN: "setting the PIN"
        }
    }
}
