// SPDX-License-Identifier: Apache-2.0

import Testing
import YKHardware

@testable import YKDesktop

@Suite("What counts as an answer of pinentry")
struct PinentryTests {
    private static func ending(_ lines: [String], status: Int32 = 0) -> ChildProcess.Ending {
        ChildProcess.Ending(status: status, output: Array(lines.map { $0 + "\n" }.joined().utf8))
    }

    @Test("a confirmation is an OK to each command, and nothing else")
    func confirmation() {
        let greeting = "OK Pleased to meet you, process 7"
        for lines in [
            [greeting, "OK", "OK"], [greeting, "OK", "OK", "OK closing connection"],
            [greeting, "OK", "S BUTTON_INFO close", "# a comment", "OK", "OK closing connection"],
        ] {
            #expect(Pinentry.isConfirmed(Self.ending(lines)))
            #expect(!Pinentry.isConfirmed(Self.ending(lines, status: 1)))
            #expect(!Pinentry.isConfirmed(Self.ending(lines, status: 137)))
        }
        for lines in [
            [], [greeting], [greeting, "OK"], [greeting, "OK", "ERR 83886179 Operation cancelled <Pinentry>"],
            [greeting, "OK", "ERR 83886179 cancelled", "OK closing connection"], [greeting, "OK", "NOT OK"],
            [greeting, "OK", "ASSUAN_Not_Confirmed", "OK closing connection"], [greeting, "OK", "OKAY"],
            [greeting, "ERR 1 unknown command", "OK", "OK"], [greeting, "OK", "OK", "OK", "OK"],
        ] { #expect(!Pinentry.isConfirmed(Self.ending(lines)), "\(lines)") }
    }

    @Test("a PIN is what GETPIN answered with OK")
    func pin() {
        #expect(Pinentry.data(Self.ending(["OK", "OK", "OK", "D 12%2534", "OK", "OK closing"])) == Array("12%34".utf8))
        #expect(Pinentry.data(Self.ending(["OK", "OK", "OK", "D 1234"])) == nil)
        #expect(Pinentry.data(Self.ending(["OK", "OK", "OK", "D 1234", "OK"], status: 1)) == nil)
        #expect(Pinentry.data(Self.ending(["OK", "OK", "OK", "ERR 83886179 cancelled", "OK"])) == nil)
        let script = Pinentry.script("sign 100% of\nit", "SETPROMPT PIN:", "GETPIN")
        #expect(String(decoding: script, as: UTF8.self) == "SETDESC sign 100%25 of%0Ait\nSETPROMPT PIN:\nGETPIN\nBYE\n")
    }
}
