// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKBridge
import YKCrypto
import YKHardware
import YKInteraction
import YKProtocols
import YKTestSupport
import YKTransport

@testable import DeviceVerbs
@testable import TerminalIO

/// The person of a guard at the desktop, with programs that are functions.
struct GuardDesktopTests {
    /// Answers yes.
    private struct Agreeing: Person {
        nonisolated(nonsending) func secret(_ request: CredentialRequest) async throws(Declined) -> SharedSecret {
            throw .nobodyToAsk
        }
        nonisolated(nonsending) func answer<Q: Question>(_ question: Q) async throws(Declined) -> Q.Answer {
            guard case .agree(let answer) = question.way else { throw .nobodyToAsk }
            return answer
        }
    }

    /// What was run.
    private final class Runs: Sendable {
        let all = Mutex<[(path: String, arguments: [String], input: String)]>([])
    }

    private let runs = Runs()

    /// A person whose desktop has one program, which ends so.
    private func person(_ program: String, _ status: Int32 = 0, _ output: String = "") -> GuardDesktop {
        var person = GuardDesktop(terminal: Terminal(), questions: Agreeing(), patience: .seconds(30))
        person.programs = { [runs] _, _ in
            ProgramRunner(find: { $0 == program ? "/usr/bin/\($0)" : nil }) { path, arguments, input, _ in
                runs.all.withLock { $0.append((path, arguments, String(decoding: input, as: UTF8.self))) }
                return ChildProcess.Ending(status: status, output: Array(output.utf8))
            }
        }
        return person
    }

    private let accounts = AccountQuestion(
        site: "example.com",
        accounts: [GuardAccount(name: "-a <b>"), GuardAccount(name: nil), GuardAccount(name: "bob")])

    @Test("yes and no are answered elsewhere")
    func agreed() async throws {
        try await person("zenity").answer(BridgeQuestion.local(.signIn(site: "example.com"), programs: []))
        #expect(runs.all.withLock { $0.isEmpty })
    }

    @Test("an account is chosen in a list, by its number", arguments: ["zenity", "kdialog"])
    func chosen(_ program: String) async throws {
        try await expect(person(program, 0, "2\n").answer(accounts), is: 1)
        let arguments = try #require(runs.all.withLock { $0.first?.arguments })
        expect(arguments.suffix(6), is: ["1", "'-a <b>'", "2", "account 2", "3", "'bob'"])
        #expect(arguments.contains { $0.contains("which account at example.com?") })
    }

    @Test(
        "anything else is a no",
        arguments: [(1, "2\n"), (0, ""), (0, "4\n"), (0, "0\n"), (0, "bob\n")] as [(Int32, String)])
    func notChosen(_ status: Int32, _ output: String) async throws {
        await #expect(throws: Declined.no) { try await person("zenity", status, output).answer(accounts) }
    }

    @Test("without a list nobody is asked")
    func noList() async throws {
        await #expect(throws: Declined.nobodyToAsk) { try await person("xmessage").answer(accounts) }
    }

    @Test("the PIN comes from pinentry, which is told what it is for")
    func pin() async throws {
        let output = String(repeating: "OK\n", count: 40)
        let request = CredentialRequest(CredentialID(.fidoPIN, key: nil), to: "sign in at example.com", triesLeft: 3)
        _ = try? await person("pinentry", 0, output).secret(request)
        let run = try #require(runs.all.withLock { $0.first })
        #expect(run.path == "/usr/bin/pinentry" && run.input.contains("to sign in at example.com, 3 tries left"))
        await #expect(throws: Declined.nobodyToAsk) { _ = try await person("zenity").secret(request) }
    }
}
