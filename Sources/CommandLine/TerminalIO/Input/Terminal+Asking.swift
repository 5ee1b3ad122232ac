// SPDX-License-Identifier: Apache-2.0

package import YKCrypto
package import YKInteraction
import YKTransport

extension Terminal {
    /// Asks the person of the stage; the thread waits for the answer, as it does for the key.
    ///
    /// - Throws: ``Unanswered`` if the answer is no or there is none.
    package func ask<Q: Question>(_ question: Q) throws(Unanswered) -> Q.Answer {
        let person = stage.person
        let result: Result<Q.Answer, Unanswered>
        do throws(LinkError) {
            result = try ServiceRuntime.ask(stage.environment.cancellation) {
                do throws(Unanswered) { return .success(try await person.confirm(question)) } catch {
                    return .failure(error)
                }
            }
        } catch { throw Unanswered(question, .interrupted, person.presence.reach) }
        return try result.get()
    }

    /// Asks for a secret.
    ///
    /// - Parameters:
    ///   - lead: A sentence before the question.
    ///   - objection: The objection to an empty answer; `nil` if an empty answer is valid.
    ///   - isNew: Whether it is a new one, which is typed twice and not empty.
    package func secret(
        _ question: String, after lead: String? = nil, objection: String? = nil, isNew: Bool = false,
        orElse hint: String
    ) throws(Unanswered) -> SharedSecret {
        let entry = SecretEntry(lead: lead, objection: objection, isNew: isNew)
        return try ask(Asked(question, .secret(entry) { $0 }, orElse: hint))
    }

    /// Asks which of several lines is meant; returns its index.
    package func pick(_ question: String, among lines: [String]) throws(Unanswered) -> Int {
        try ask(Asked(question, .pick(lines.indices.map { (lines[$0], $0) })))
    }

    /// Whether someone can be asked.
    package var hasPerson: Bool { stage.person.presence.isHere }

    /// Shows lines to the person alone.
    ///
    /// - Throws: `Explanation` if there is no place to show them.
    package func show(_ lines: [String], orElse hint: String) throws(Explanation) {
        do throws(Declined) { try stage.person.show(lines) } catch {
            throw .noTerminal(stage.person.presence.reach, hint: hint)
        }
    }

    /// Requires someone who can be asked.
    package func requirePerson(orElse hint: String) throws(Explanation) {
        let presence = stage.person.presence
        guard presence.isHere else { throw .noTerminal(presence.reach, hint: hint) }
    }
}
