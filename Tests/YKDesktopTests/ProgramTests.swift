// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import YKCrypto
import YKHardware
import YKTestSupport
import YKTransport

@testable import YKDesktop

/// Programs that are really started: shell scripts in a folder of the test.
private final class Scripts {
    let path = "/tmp/ykdesktop.\(UInt32.random(in: 0 ... .max))"

    init(_ scripts: [String: String]) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        // A shell writes them: a program that another test starts would have a file open that this process writes, and
        // nobody can execute a file that is open for writing.
        for (name, body) in scripts {
            let ending = try ChildProcess.run(
                "/bin/sh", ["-c", "cat >$0 && chmod 700 $0", "\(path)/\(name)"],
                input: Array("#!/bin/sh\n\(body)\n".utf8),
                deadline: .after(.seconds(60)))
            try #require(ending.status == 0)
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    subscript(name: String) -> String { "\(path)/\(name)" }
}

struct ProgramTests {
    @Test func asksWithPrograms() throws {
        let scripts = try Scripts([
            "askpass": #"[ "$SSH_ASKPASS_PROMPT" = confirm ] && exit; [ "$1" = 'PIN: ' ] && echo 123456"#,
            "pinentry": """
            echo OK
            while read -r line; do
                case $line in
                    GETPIN) echo 'D 123%25456'; echo OK ;;
                    BYE) echo OK; exit ;;
                    *) echo OK ;;
                esac
            done
            """,
            "refusing": "exit 1",
        ])
        let terminal = PinentryTerminal { _ in nil }
        let programs: [(PromptProgram, String)] = [
            (.askpass(scripts["askpass"]), "123456"), (.pinentry(scripts["pinentry"], terminal), "123%456"),
        ]
        for (program, pin) in programs {
            let secret = try program.secret("PIN", within: .seconds(60))
            expect(secret.value.copyBytes(), is: Array(pin.utf8))
            try program.agree("Sign?", within: .seconds(60))
        }
        for name in ["refusing", "missing"] {
            for program in [PromptProgram.askpass(scripts[name]), .pinentry(scripts[name], terminal)] {
                #expect(throws: PromptFailure.self) { try program.secret("PIN", within: .seconds(60)) }
                #expect(throws: PromptFailure.self) { try program.agree("Sign?", within: .seconds(60)) }
            }
        }
    }

    @Test("all that a program writes is read, however much") func output() throws {
        for size in [0, 1, 65_537, 1 << 20] {
            let ending = try ChildProcess.run(
                "/bin/sh", ["-c", "head -c $1 /dev/zero; head -c $1 /dev/zero | tr '\\0' e >&2", "sh", "\(size)"],
                keepsErrors: true, deadline: .after(.seconds(60)))
            expect(ending.output, is: [UInt8](repeating: 0, count: size))
            expect(ending.errors, is: [UInt8](repeating: UInt8(ascii: "e"), count: size))
        }
    }

    @Test("a question that is withdrawn, or not answered in time, ends the program")
    func ends() throws {
        let scripts = try Scripts(["slow": "exec sleep 60"])
        for program in [
            PromptProgram.askpass(scripts["slow"]), .pinentry(scripts["slow"], PinentryTerminal { _ in nil }),
        ] {
            let cancellation = Cancellation()
            cancellation.cancel()
            #expect(throws: PromptFailure.withdrawn) {
                try program.secret("PIN", within: .seconds(60), cancellation: cancellation)
            }
            #expect(throws: PromptFailure.timedOut) { try program.agree("Sign?", within: .milliseconds(50)) }
        }
    }
}
