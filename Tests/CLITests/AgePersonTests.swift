// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TerminalIO
import Testing
import YKAge
import YKCrypto
import YKInteraction
import YKProtocols
import YKTestSupport

@testable import AccountVerbs

/// The questions that reach their user through age.
@Suite struct AgePersonTests {
    /// Plays age: answers each stanza in turn, then closes the connection.
    private final class Age: AgeConnection {
        private let state: Mutex<(answers: [AgeStanza], asked: [AgeStanza])>

        init(_ answers: AgeStanza...) { state = Mutex((answers, [])) }

        var asked: [AgeStanza] { state.withLock { $0.asked } }

        func receive() throws(AgeError) -> AgeStanza {
            let next = state.withLock { $0.answers.isEmpty ? nil : $0.answers.removeFirst() }
            guard let next else { throw .connection("closed") }
            return next
        }

        func send(_ stanza: AgeStanza) throws(AgeError) { state.withLock { $0.asked.append(stanza) } }
    }

    private struct Unworded: Question { var way: Way<Void> { .agree(()) } }
    private struct Erasure: Question, Worded {
        var way: Way<Void> { .type(word: "erase", ()) }
        var words: QuestionWords { QuestionWords("title", "type it") }
    }
    private struct Use: Question, Worded {
        var way: Way<Void> { .agree(()) }
        var words: QuestionWords { QuestionWords("title", "use the key") }
    }

    private func declined(_ age: Age, _ question: some Question) async -> Declined? {
        do throws(Declined) { _ = try await AgePerson(AgeDialogue(age)).answer(question) } catch { return error }
        return nil
    }

    @Test("a missing key: both answers are the user's, and none is no") func missingKey() async throws {
        let age = Age(AgeStanza("ok", ["yes"]), AgeStanza("ok", ["no"]), AgeStanza("fail"))
        let person = AgePerson(AgeDialogue(age))
        #expect(try await person.answer(MissingKey(serial: 4711)))
        #expect(try await !person.answer(MissingKey(serial: nil)))
        #expect(try await !person.answer(MissingKey(serial: nil)))
        let asked = age.asked
        expect(asked.map(\.type), is: ["confirm", "confirm", "confirm"])
        #expect(asked.allSatisfy { $0.arguments.count == 2 })
        expect(String(decoding: asked[0].body, as: UTF8.self), is: "Insert the key with serial number 4711.")
    }

    @Test("yes, no, and what age cannot ask") func ways() async {
        await expect(declined(Age(AgeStanza("ok", ["yes"])), Use()), is: nil)
        await expect(declined(Age(AgeStanza("ok", ["no"])), Use()), is: .no)
        await expect(declined(Age(), Use()), is: .withdrawn)
        let silent = Age(AgeStanza("ok", ["yes"]))
        await expect(declined(silent, Erasure()), is: .nobodyToAsk)
        await expect(declined(silent, Unworded()), is: .nobodyToAsk)
        #expect(silent.asked.isEmpty)
    }

    @Test("a PIN, an empty one, and age that ends") func secrets() async throws {
        let request = CredentialRequest(CredentialID(.pivPIN, key: nil), to: "decrypt a file")
        let age = Age(AgeStanza("ok", body: Array("123456".utf8)), AgeStanza("ok"), AgeStanza("fail"))
        let person = AgePerson(AgeDialogue(age), key: "4711")
        try await expect(person.secret(request).value.copyBytes(), is: Array("123456".utf8))
        await #expect(throws: Declined.no) { try await person.secret(request) }
        await #expect(throws: Declined.no) { try await person.secret(request) }
        await #expect(throws: Declined.withdrawn) { try await person.secret(request) }
        let words = String(decoding: age.asked[0].body, as: UTF8.self)
        #expect(words.contains("4711") && words.contains("decrypt a file"))
    }
}
