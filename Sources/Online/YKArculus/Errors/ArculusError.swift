// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
public import YKTransport
public import YKWire

/// Why an operation with an Arculus card or its server failed.
public enum ArculusError: Error, Hashable, Sendable {
    /// The card or its transport failed, or the options are invalid.
    case card(WebAuthnError, during: ArculusStep)
    /// No reader, or no card was presented in time.
    case reader(LinkError)
    /// After the first card was lost, another one was presented.
    case otherCard
    /// The card is not an Arculus card, and only those are accepted; its AAGUID.
    case notArculus([UInt8])
    /// The card was lost during PIN verification and has fewer retries now: the PIN may have been wrong, and is not
    /// sent again.
    case pinInDoubt(PINRetries)
    /// The card was lost during the PIN change: it has the old PIN or the new one.
    case changeInDoubt
    /// The PIN is invalid; nothing was sent.
    case unsuitablePIN(ArculusPINProblem)
    /// The server or the backend refused.
    case server(ArculusRefusal)
    /// The server gave no usable reply.
    case http(HTTPError)
    /// The reply of the server or the backend violates the protocol.
    case reply(String)
    /// The server's configuration is invalid.
    case configuration(String)
}

/// A step of an operation.
public enum ArculusStep: String, Hashable, Sendable {
    /// Opening the card.
    case opening
    /// Creating a credential.
    case registering
    /// Requesting an assertion.
    case authenticating
    /// Resetting the card.
    case resetting
    /// Setting or changing a PIN.
    case settingPIN
}

/// Why a PIN is refused before it is sent.
public enum ArculusPINProblem: Hashable, Sendable {
    /// It is too short for an Arculus card.
    case tooShort(Int)
    /// It has characters other than digits.
    case notDigits
}

extension ArculusError {
    /// Converts an error of the card's service.
    init(_ error: FIDOError, _ step: ArculusStep) { self = .card(.key(error), during: step) }

    /// Whether the card was removed during the operation.
    public var isTagLost: Bool {
        guard let link else { return false }
        return switch link {
        case .removed, .reset, .unresponsive, .noCard: true
        default: false
        }
    }

    /// The underlying link error, if there is one.
    var link: LinkError? {
        switch self {
        case .card(.key(.ctap(.link(let error))), _): error.link
        case .reader(let error): error
        default: nil
        }
    }

    /// Whether the operation was cancelled.
    public var isCancelled: Bool { link == .cancelled || self == .http(.cancelled) }

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

/// Arculus' error codes: three digits for the card, `E0024R` and the like for the server (developer.getarculus.com,
/// error codes).
public struct ArculusCode: OpenSet {
    /// The code as written.
    public let rawValue: String
    /// Wraps a code.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The card was removed during the operation.
    public static let tagLost = ArculusCode("600")
    /// Another card error.
    public static let unknown = ArculusCode("601")
    /// The card has no credential for this.
    public static let noCredentials = ArculusCode("602")
    /// The card has credentials, but none of this user.
    public static let userNotFound = ArculusCode("603")
    /// The card did not sign.
    public static let signatureFailed = ArculusCode("604")
    /// The card was not reset.
    public static let resetFailed = ArculusCode("605")
    /// The card has no room for another credential.
    public static let storeFull = ArculusCode("606")
    /// A message was not transmitted.
    public static let transmitFailed = ArculusCode("607")
    /// No token was issued: the PIN is wrong, blocked or not set.
    public static let pinFailed = ArculusCode("608")
    /// The card's public key for the PIN was not available.
    public static let publicKeyFailed = ArculusCode("609")
    /// The new PIN was not set.
    public static let setPINFailed = ArculusCode("611")
    /// There is no contactless reader.
    public static let noReader = ArculusCode("615")
    /// The server's session has expired.
    public static let sessionExpired = ArculusCode("E0024R")
    /// The server rejected the signature.
    public static let invalidSignature = ArculusCode("E2017R")
    /// The server does not know the credential.
    public static let unknownCredential = ArculusCode("E2019R")

    /// Its published meaning, if there is one.
    public var meaning: String? { Self.meanings[self] }

    /// The code and its meaning.
    public var description: String { meaning.map { "\(rawValue) (\($0))" } ?? rawValue }

    /// The number, for numeric codes.
    public var number: Int? { rawValue.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(rawValue) : nil }

    private static let meanings: [ArculusCode: String] = [
        .tagLost: "card lost", .unknown: "unknown", .noCredentials: "no credentials",
        .userNotFound: "user not found on the card", .signatureFailed: "signature failed",
        .resetFailed: "reset failed", .storeFull: "key store full", .transmitFailed: "transmit failed",
        .pinFailed: "PIN refused", .publicKeyFailed: "no public key from the card", .setPINFailed: "PIN not set",
        .noReader: "NFC not available", .sessionExpired: "session expired", .invalidSignature: "invalid signature",
        .unknownCredential: "unknown credential",
    ]

    /// Returns the first server code in a string: a letter, four digits, a letter, as a separate word.
    public static func find(in text: String) -> ArculusCode? {
        for word in text.split(whereSeparator: { !($0.isASCII && ($0.isLetter || $0.isNumber)) }) {
            let bytes = Array(word.utf8)
            guard bytes.count == 6, isCapital(bytes[0]), isCapital(bytes[5]) else { continue }
            if bytes[1...4].allSatisfy({ (0x30...0x39).contains($0) }) { return ArculusCode(String(word)) }
        }
        return nil
    }

    private static func isCapital(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) }
}
