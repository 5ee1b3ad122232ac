// SPDX-License-Identifier: Apache-2.0

import Testing
import YKHardware
import YKTestSupport

@testable import YKDesktop

@Suite("What counts as an answer of pinentry")
struct PinentryTests {
    private static let greeting = "OK Pleased to meet you, process 7"
    /// A question without options, and a request for a PIN with two.
    private static let confirm = Pinentry("p", "sign?", "CONFIRM", options: [])
    private static let pin = Pinentry(
        "p", "sign?", "SETPROMPT PIN:", "GETPIN", options: ["OPTION ttyname=/dev/t", "SETTIMEOUT 9"])

    /// The answer to a conversation, or why there is none.
    private func answer(_ pinentry: Pinentry, _ output: String, status: Int32 = 0) -> Result<[UInt8], PromptFailure> {
        Result { () throws(PromptFailure) in
            try pinentry.answer(ChildProcess.Ending(status: status, output: Array(output.utf8)))
        }
    }

    private func answer(_ pinentry: Pinentry, _ lines: [String], status: Int32 = 0) -> Result<[UInt8], PromptFailure> {
        answer(pinentry, lines.map { $0 + "\n" }.joined(), status: status)
    }

    /// Whether pinentry could not ask, which is not a no of the user.
    private func couldNotAsk(_ result: Result<[UInt8], PromptFailure>) -> Bool {
        if case .failure(.cannotAsk) = result { true } else { false }
    }

    @Test("a confirmation is an OK to each command, in whole lines, and nothing else")
    func confirmation() {
        for lines in [
            [Self.greeting, "OK", "OK"], [Self.greeting, "OK", "OK", "OK closing connection"],
            [Self.greeting, "OK", "S BUTTON_INFO close", "# a comment", "OK", "OK closing connection"],
        ] {
            expect(answer(Self.confirm, lines), is: .success([]))
            #expect(couldNotAsk(answer(Self.confirm, lines, status: 1)))
            #expect(couldNotAsk(answer(Self.confirm, lines, status: 137)))
        }
        for lines in [
            [], [Self.greeting], [Self.greeting, "OK"], [Self.greeting, "OK", "NOT OK"],
            [Self.greeting, "OK", "ASSUAN_Not_Confirmed", "OK closing connection"], [Self.greeting, "OK", "OKAY"],
            [Self.greeting, "ERR 1 unknown command", "OK", "OK"], [Self.greeting, "OK", "OK", "OK", "OK"],
            [Self.greeting, "D x", "OK", "OK"], [Self.greeting, "OK", "ERR 83918950 Inappropriate ioctl", "OK"],
        ] { #expect(couldNotAsk(answer(Self.confirm, lines)), "\(lines)") }
        #expect(couldNotAsk(answer(Self.confirm, "\(Self.greeting)\nOK\nOK")), "half a line is no answer")
        for lines in [
            [Self.greeting, "OK", "ERR 83886179 Operation cancelled <Pinentry>"],
            [Self.greeting, "OK", "ERR 83886179 cancelled", "OK closing connection"],
            [Self.greeting, "OK", "ERR 83886194 not confirmed"],
        ] { expect(answer(Self.confirm, lines), is: .failure(.declined), "\(lines)") }
        expect(answer(Self.confirm, [Self.greeting, "OK", "ERR 83886142 Timeout"]), is: .failure(.timedOut))
    }

    @Test("a PIN is what GETPIN answered with OK; options may be unknown")
    func secret() {
        let pin = Result<[UInt8], PromptFailure>.success(Array("12%34".utf8))
        expect(answer(Self.pin, ["OK", "OK", "OK", "OK", "OK", "D 12%2534", "OK", "OK closing"]), is: pin)
        expect(answer(Self.pin, ["OK", "ERR 1 unknown", "ERR 1", "OK", "OK", "D 12%25", "D 34", "OK"]), is: pin)
        let head = ["OK", "OK", "OK", "OK", "OK"]
        for tail in [
            ["D 1234"], ["D 1234", "NO"], ["D 1234", "ERR 83918950 Inappropriate ioctl for device <Pinentry>"],
        ] {
            #expect(couldNotAsk(answer(Self.pin, head + tail)), "\(tail)")
        }
        #expect(couldNotAsk(answer(Self.pin, head + ["D 1234", "OK"], status: 1)))
        #expect(couldNotAsk(answer(Self.pin, (head + ["D 1234", "OK"]).joined(separator: "\n"))))
        expect(answer(Self.pin, head + ["ERR 83886179 cancelled", "OK"]), is: .failure(.declined))
        #expect(
            answer(Self.pin, head + ["ERR 83918950 Inappropriate ioctl for device <Pinentry>"])
                == .failure(.cannotAsk(program: "p", reason: "Inappropriate ioctl for device <Pinentry>")))
    }

    @Test("the terminal of GPG_TTY is named, and nothing that could be another command")
    func script() {
        let script = Pinentry("p", "sign 100% of\nit", "SETPROMPT PIN:", "GETPIN", options: ["SETTIMEOUT 9"]).script
        #expect(
            String(decoding: script, as: UTF8.self)
                == "SETTIMEOUT 9\nSETDESC sign 100%25 of%0Ait\nSETPROMPT PIN:\nGETPIN\nBYE\n")
        func options(_ variables: [String: String]) -> [String] { PinentryTerminal { variables[$0] }.options }
        #expect(
            options(["GPG_TTY": "/dev/pts/1", "TERM": "xterm", "LANG": "C.UTF-8", "LC_ALL": "de_DE.UTF-8"])
                == ["OPTION ttyname=/dev/pts/1", "OPTION ttytype=xterm", "OPTION lc-ctype=de_DE.UTF-8"])
        expect(options(["TERM": "xterm"]), is: [])
        expect(options(["GPG_TTY": "/dev/pts/1\nCONFIRM", "LANG": "C"]), is: ["OPTION lc-ctype=C"])
    }
}
