// SPDX-License-Identifier: Apache-2.0

/// An error of a layer above a card or link, which may have their failure as its cause.
public protocol CardCaused: Error {
    /// The failure of the card or link; `nil` for an error with another cause.
    var cardCause: CardError? { get }
}

extension CardError: CardCaused {
    /// The failure that caused an error of any layer; `nil` if it has another cause.
    public init?(causing error: any Error) {
        guard let cause = (error as? any CardCaused)?.cardCause else { return nil }
        self = cause
    }

    /// The error itself.
    public var cardCause: CardError? { self }
}

extension LinkError: CardCaused {
    /// The failure of a link that caused an error of any layer; `nil` if it has another cause.
    public init?(causing error: any Error) {
        guard case .link(let cause)? = CardError(causing: error) else { return nil }
        self = cause
    }

    /// The error, as an error of a card.
    public var cardCause: CardError? { .link(self) }

    /// Whether the same operation may succeed a moment later: another program holds the card, or has reset it or powered
    /// it off. What was selected and unlocked is lost.
    public var isTransient: Bool {
        switch self {
        case .busy, .reset, .unresponsive: true
        default: false
        }
    }
}

extension FIDOLinkError: CardCaused {
    /// The failure of the card or link, for `card` and `device`.
    public var cardCause: CardError? {
        switch self {
        case .card(let error): error
        case .device(let error): .link(error)
        default: nil
        }
    }
}

extension OTPLinkError: CardCaused {
    /// The failure of the card or link, for `card` and `device`.
    public var cardCause: CardError? {
        switch self {
        case .card(let error): error
        case .device(let error): .link(error)
        default: nil
        }
    }
}

/// Returns a card's answer to a question without which an operation continues; `nil` if the card refuses the question.
///
/// - Throws: The error of a failed link: a card that was not heard has refused nothing.
package nonisolated(nonsending) func unlessRefused<Answer>(
    _ question: () async throws -> Answer
) async throws -> Answer? {
    do { return try await question() } catch {
        guard LinkError(causing: error) == nil else { throw error }
        return nil
    }
}
