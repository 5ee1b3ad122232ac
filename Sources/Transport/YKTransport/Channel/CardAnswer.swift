// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// The answer to an optional question: one that an operation can do without (`CardVocabulary.isOptional`).
package enum CardAnswer<Value> {
    /// The decoded reply.
    case answered(Value)
    /// The card answered with a status word other than success.
    case refused(StatusWord)
    /// The reply violates the protocol.
    case malformed(WireError)
    /// The replayed recording lacks the exchange.
    case unrecorded

    /// The decoded reply; `nil` if the card did not give one.
    package var value: Value? { if case .answered(let value) = self { value } else { nil } }

    /// Decodes the reply further; a reply that cannot be decoded is malformed.
    package func map<Other>(_ decode: (Value) throws(WireError) -> Other) -> CardAnswer<Other> {
        switch self {
        case .answered(let value):
            do { return .answered(try decode(value)) } catch { return .malformed(error) }
        case .refused(let status): return .refused(status)
        case .malformed(let error): return .malformed(error)
        case .unrecorded: return .unrecorded
        }
    }

    /// Whether the card says that there is nothing, or that it does not know the question.
    fileprivate var isAbsence: Bool {
        switch self {
        case .refused(.notFound), .refused(.referenceNotFound), .refused(.unknownInstruction),
            .refused(.functionNotSupported), .unrecorded:
            true
        default: false
        }
    }

    /// The answer in an error; `nil` if the error is no answer: the link failed or the operation was cancelled.
    fileprivate init?(_ error: CardError) {
        switch error {
        case .status(let status, _): self = .refused(status)
        case .malformed(let error, _): self = .malformed(error)
        case .endlessReply: self = .malformed(WireError(.tooLarge, at: 0, "an endless reply"))
        case .link(.replay): self = .unrecorded
        case .link, .appletMissing, .tooLong, .secureChannel: return nil
        }
    }
}

extension CardChannel {
    /// Asks an optional question: whatever the card answers, the operation continues.
    ///
    /// - Throws: Only what ends the session: failures of the link, cancellation, and faults of the secure channel.
    package func ask<Command: CardCommand>(
        _ command: Command
    ) throws(CardError) -> CardAnswer<Command.Response> {
        do { return .answered(try send(command)) } catch {
            // Error status words have no MAC: with a secure channel, only one that reports absence is accepted.
            guard let answer = CardAnswer<Command.Response>(error), secureChannel == nil || answer.isAbsence else {
                throw error
            }
            return answer
        }
    }
}
