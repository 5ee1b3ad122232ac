// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

extension PIVError {
    /// Lifts a card error by the meaning of its status word; the only place that does.
    init(_ error: CardError, _ meaning: (StatusWord) -> PIVError?) {
        guard case .status(let status, _) = error else {
            self = .card(error)
            return
        }
        self = meaning(status) ?? Self.common(status) ?? .card(error)
    }

    /// The meaning of a status word after any command.
    private static func common(_ status: StatusWord) -> PIVError? {
        switch status {
        case .noSpace: .full
        default: nil
        }
    }

    /// The meaning of a failed PIN, PUK or fingerprint verification: 63Cx holds the remaining retries, as does 63xx on
    /// firmware before 1.0.4.
    static func refused(_ reference: PIVReference, _ status: StatusWord) -> PIVError? {
        if status == .authenticationBlocked { return .blocked(reference) }
        if let tries = status.triesLeft {
            return tries == 0 ? .blocked(reference) : .wrong(reference, triesLeft: tries)
        }
        return status.sw1 == 0x63 && status.sw2 > 0 ? .wrong(reference, triesLeft: Int(status.sw2)) : nil
    }

    /// Whether the card answered without executing the command: a checking error (ISO 7816-4 §5.6, 67xx to 6Exx) or an
    /// error derived from one. After an execution error (64xx, 65xx), 6F00, or no answer, the card may have executed
    /// it.
    var isRefusal: Bool {
        switch self {
        case .card(.status(let status, _)): (0x67...0x6E).contains(status.sw1)
        case .card, .uncertain, .unfinished, .notApplied: false
        default: true
        }
    }

    /// This error for a command that makes a change: `uncertain` unless the card refused.
    func whileChanging(_ change: PIVChange) -> PIVError { isRefusal ? self : .uncertain(change, self) }

    /// Whether the card does not support the instruction or its parameters.
    static func isUnknown(_ status: StatusWord) -> Bool {
        [.unknownInstruction, .functionNotSupported, .wrongParameters, StatusWord(0x6A86), .unknownClass]
            .contains(status)
    }

    static func unsupported(_ feature: PIVFeature, _ identity: PIVIdentity) -> PIVError {
        .unsupported(feature, needs: feature.firstVersion, has: identity.isYubiKey ? identity.version : nil)
    }
}
