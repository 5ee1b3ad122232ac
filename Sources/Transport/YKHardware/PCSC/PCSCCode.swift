// SPDX-License-Identifier: Apache-2.0

import CPCSC
import YKWire

/// A return code of a PC/SC call; unnamed codes are kept.
struct PCSCCode: OpenSet {
    let rawValue: UInt32

    init(rawValue: UInt32) { self.rawValue = rawValue }
    init(_ code: LONG) { rawValue = UInt32(truncatingIfNeeded: code) }

    static let success = PCSCCode(rawValue: 0)
    static let cancelled = PCSCCode(rawValue: 0x8010_0002)
    static let invalidHandle = PCSCCode(rawValue: 0x8010_0003)
    static let insufficientBuffer = PCSCCode(rawValue: 0x8010_0008)
    static let unknownReader = PCSCCode(rawValue: 0x8010_0009)
    static let timeout = PCSCCode(rawValue: 0x8010_000A)
    static let sharingViolation = PCSCCode(rawValue: 0x8010_000B)
    static let noSmartcard = PCSCCode(rawValue: 0x8010_000C)
    static let protocolMismatch = PCSCCode(rawValue: 0x8010_000F)
    static let notReady = PCSCCode(rawValue: 0x8010_0010)
    static let communicationError = PCSCCode(rawValue: 0x8010_0013)
    static let notTransacted = PCSCCode(rawValue: 0x8010_0016)
    static let readerUnavailable = PCSCCode(rawValue: 0x8010_0017)
    static let shutdown = PCSCCode(rawValue: 0x8010_0018)
    static let cardUnsupported = PCSCCode(rawValue: 0x8010_001C)
    static let noService = PCSCCode(rawValue: 0x8010_001D)
    static let serviceStopped = PCSCCode(rawValue: 0x8010_001E)
    static let noAccess = PCSCCode(rawValue: 0x8010_0027)
    static let noReaders = PCSCCode(rawValue: 0x8010_002E)
    static let unsupportedCard = PCSCCode(rawValue: 0x8010_0065)
    static let unresponsiveCard = PCSCCode(rawValue: 0x8010_0066)
    static let unpoweredCard = PCSCCode(rawValue: 0x8010_0067)
    static let resetCard = PCSCCode(rawValue: 0x8010_0068)
    static let removedCard = PCSCCode(rawValue: 0x8010_0069)
    static let securityViolation = PCSCCode(rawValue: 0x8010_006A)

    /// Whether the service stopped, refuses this client, or was restarted and no longer knows it: libpcsclite also
    /// returns "security violation" when pcscd dies before reading a call (1.9.9).
    var meansServiceLost: Bool {
        switch self {
        case .noService, .serviceStopped, .invalidHandle, .communicationError, .shutdown, .securityViolation,
            .noAccess:
            true
        default: false
        }
    }

    /// Whether the card, or the reader with it, was removed; applies only when there was a card before.
    var meansRemoved: Bool {
        switch self {
        case .removedCard, .noSmartcard, .readerUnavailable, .unknownReader, .noReaders: true
        default: false
        }
    }

    /// Whether reader and card cannot communicate.
    var meansUnresponsive: Bool {
        switch self {
        case .unresponsiveCard, .unpoweredCard, .unsupportedCard, .cardUnsupported, .protocolMismatch, .notReady,
            .notTransacted:
            true
        default: false
        }
    }
}

extension PCSCCode: CustomStringConvertible {
    /// The name in winscard.h if known, otherwise the number.
    var description: String {
        switch self {
        case .protocolMismatch: "SCARD_E_PROTO_MISMATCH"
        case .notReady: "SCARD_E_NOT_READY"
        case .notTransacted: "SCARD_E_NOT_TRANSACTED"
        case .cardUnsupported: "SCARD_E_CARD_UNSUPPORTED"
        case .unsupportedCard: "SCARD_W_UNSUPPORTED_CARD"
        case .unresponsiveCard: "SCARD_W_UNRESPONSIVE_CARD"
        case .unpoweredCard: "SCARD_W_UNPOWERED_CARD"
        default: "0x" + String(rawValue, radix: 16)
        }
    }
}

/// A failed PC/SC call.
struct PCSCFailure: Error, Hashable, Sendable {
    /// The function that was called.
    enum Step: String, Sendable {
        case establish = "SCardEstablishContext"
        case list = "SCardListReaders"
        case states = "SCardGetStatusChange"
        case connect = "SCardConnect"
        case reconnect = "SCardReconnect"
        case begin = "SCardBeginTransaction"
        case transmit = "SCardTransmit"
        case status = "SCardStatus"
        case control = "SCardControl"
        case attribute = "SCardGetAttrib"
    }

    let code: PCSCCode
    let step: Step

    init(_ code: PCSCCode, _ step: Step) {
        self.code = code
        self.step = step
    }

    /// Throws unless the call succeeded.
    static func check(_ code: LONG, _ step: Step) throws(PCSCFailure) {
        let code = PCSCCode(code)
        guard code == .success else { throw PCSCFailure(code, step) }
    }
}
