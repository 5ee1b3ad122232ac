// SPDX-License-Identifier: Apache-2.0

import YKTransport
public import YKWire

/// A return code of PC/SC (PC/SC part 5 §3.1; winscard.h) other than success.
public struct SmartCardError: Error, OpenSet {
    /// The code, such as 80100009.
    public let rawValue: UInt32
    /// Wraps a code.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    private init(_ low: UInt32) { rawValue = 0x8010_0000 | low }

    /// SCARD_F_INTERNAL_ERROR: internal error.
    public static let internalError = SmartCardError(0x01)
    /// SCARD_E_CANCELLED: cancelled.
    public static let cancelled = SmartCardError(0x02)
    /// SCARD_E_INVALID_HANDLE: the context was released or the card disconnected.
    public static let invalidHandle = SmartCardError(0x03)
    /// SCARD_E_INVALID_PARAMETER: an argument is invalid.
    public static let invalidParameter = SmartCardError(0x04)
    /// SCARD_E_INSUFFICIENT_BUFFER: too many bytes.
    public static let insufficientBuffer = SmartCardError(0x08)
    /// SCARD_E_UNKNOWN_READER: no reader has that name.
    public static let unknownReader = SmartCardError(0x09)
    /// SCARD_E_TIMEOUT: the timeout expired.
    public static let timeout = SmartCardError(0x0A)
    /// SCARD_E_SHARING_VIOLATION: another program has the card.
    public static let sharingViolation = SmartCardError(0x0B)
    /// SCARD_E_NO_SMARTCARD: no card is in the reader.
    public static let noSmartCard = SmartCardError(0x0C)
    /// SCARD_E_PROTO_MISMATCH: the card supports none of the protocols.
    public static let protocolMismatch = SmartCardError(0x0F)
    /// SCARD_F_COMM_ERROR: the reply is invalid.
    public static let communicationError = SmartCardError(0x13)
    /// SCARD_F_UNKNOWN_ERROR: unknown error.
    public static let unknownError = SmartCardError(0x14)
    /// SCARD_E_NOT_TRANSACTED: there is no transaction to end.
    public static let notTransacted = SmartCardError(0x16)
    /// SCARD_E_READER_UNAVAILABLE: the reader is gone.
    public static let readerUnavailable = SmartCardError(0x17)
    /// SCARD_E_NO_SERVICE: the service is not running.
    public static let noService = SmartCardError(0x1D)
    /// SCARD_E_SERVICE_STOPPED: the service stopped.
    public static let serviceStopped = SmartCardError(0x1E)
    /// SCARD_E_UNSUPPORTED_FEATURE: the attribute is not supported.
    public static let unsupportedFeature = SmartCardError(0x22)
    /// SCARD_E_NO_READERS_AVAILABLE: no reader is attached.
    public static let noReadersAvailable = SmartCardError(0x2E)
    /// SCARD_W_UNRESPONSIVE_CARD: the card does not respond to power-up.
    public static let unresponsiveCard = SmartCardError(0x66)
    /// SCARD_W_RESET_CARD: another program reset the card; reconnect.
    public static let resetCard = SmartCardError(0x68)
    /// SCARD_W_REMOVED_CARD: the card was removed.
    public static let removedCard = SmartCardError(0x69)
    /// SCARD_W_SECURITY_VIOLATION: not allowed.
    public static let securityViolation = SmartCardError(0x6A)

    /// The name in winscard.h if known, otherwise the number.
    public var description: String { Self.names[rawValue & 0xFFFF] ?? "0x" + String(rawValue, radix: 16) }

    private static let names: [UInt32: String] = [
        0x01: "SCARD_F_INTERNAL_ERROR", 0x02: "SCARD_E_CANCELLED", 0x03: "SCARD_E_INVALID_HANDLE",
        0x04: "SCARD_E_INVALID_PARAMETER", 0x08: "SCARD_E_INSUFFICIENT_BUFFER", 0x09: "SCARD_E_UNKNOWN_READER",
        0x0A: "SCARD_E_TIMEOUT", 0x0B: "SCARD_E_SHARING_VIOLATION", 0x0C: "SCARD_E_NO_SMARTCARD",
        0x0F: "SCARD_E_PROTO_MISMATCH", 0x13: "SCARD_F_COMM_ERROR", 0x14: "SCARD_F_UNKNOWN_ERROR",
        0x16: "SCARD_E_NOT_TRANSACTED", 0x17: "SCARD_E_READER_UNAVAILABLE", 0x1D: "SCARD_E_NO_SERVICE",
        0x1E: "SCARD_E_SERVICE_STOPPED", 0x22: "SCARD_E_UNSUPPORTED_FEATURE", 0x2E: "SCARD_E_NO_READERS_AVAILABLE",
        0x66: "SCARD_W_UNRESPONSIVE_CARD", 0x68: "SCARD_W_RESET_CARD", 0x69: "SCARD_W_REMOVED_CARD",
        0x6A: "SCARD_W_SECURITY_VIOLATION",
    ]
}

extension SmartCardError {
    /// The PC/SC code for a link error; an underlying PC/SC code is kept.
    init(_ error: LinkError) {
        switch error {
        case .serviceNotInstalled, .usbLibraryNotInstalled, .serviceNotRunning, .serviceMismatch: self = .noService
        case .accessDenied: self = .securityViolation
        case .noReader: self = .noReadersAvailable
        case .unknownReader, .noDevice: self = .unknownReader
        case .noCard: self = .noSmartCard
        case .busy: self = .sharingViolation
        case .removed: self = .removedCard
        case .reset: self = .resetCard
        case .timedOut: self = .timeout
        case .cancelled: self = .cancelled
        case .closed: self = .invalidHandle
        case .unresponsive: self = .unresponsiveCard
        case .malformed: self = .communicationError
        case .replay, .capture: self = .internalError
        // pcsc-lite gives SCARD_E_UNSUPPORTED_FEATURE the number that others use for SCARD_E_UNEXPECTED.
        case .failed(code: 0x8010_001F, _): self = .unsupportedFeature
        case .failed(let code, _): self = code >> 16 == 0x8010 ? SmartCardError(rawValue: code) : .unknownError
        }
    }
}
