// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKCrypto
import YKHardware
import YKTestSupport
import YKTransport
import YKWire

@testable import YKDesktop

/// Programs that are installed, and what they were started with.
private final class Programs: Sendable {
    struct Start: Sendable, Equatable {
        let name: String
        let arguments: [String]
        let input: String
        let variables: [String: String]
    }

    private let answers: [String: @Sendable (Start) throws(ProgramError) -> ChildProcess.Ending]
    private let all = Mutex<[Start]>([])

    init(_ answers: [String: @Sendable (Start) throws(ProgramError) -> ChildProcess.Ending]) { self.answers = answers }

    convenience init(_ name: String, _ output: String, status: Int32 = 0) {
        self.init([name: { _ in .init(status: status, output: Array(output.utf8)) }])
    }

    var starts: [Start] { all.withLock { $0 } }

    var runner: ProgramRunner {
        ProgramRunner(find: { self.answers[$0] == nil ? nil : "/bin/\($0)" }) {
            path, arguments, input, variables throws(ProgramError) in
            let name = String(path.dropFirst("/bin/".count))
            let start = Start(
                name: name, arguments: arguments, input: String(decoding: input, as: UTF8.self), variables: variables)
            self.all.withLock { $0.append(start) }
            guard let answer = self.answers[name] else { throw .failed(program: path, reason: "not installed") }
            return try answer(start)
        }
    }
}

private func session(_ names: String...) -> DesktopSession { DesktopSession { names.contains($0) ? "x" : nil } }
private let bus = session("DBUS_SESSION_BUS_ADDRESS")

struct NotificationTests {
    @Test func needsSessionAndTool() throws {
        #expect(throws: DesktopError.noSession) { try DesktopNotifications(session(), Programs("gdbus", "").runner) }
        #expect(throws: DesktopError.notInstalled(program: "gdbus")) {
            try DesktopNotifications(bus, Programs("other", "").runner)
        }
    }

    @Test func shows() throws {
        let programs = Programs("gdbus", "(uint32 7,)\n")
        let notifications = try DesktopNotifications(bus, programs.runner)
        let number = notifications.show(
            "it's", ["<b>a & b</b>", "c\\d"], actions: [("show", "Show")], milliseconds: 5)
        notifications.close(7)
        #expect(number == 7 && programs.starts.count == 2)
        let words = programs.starts[0].arguments
        #expect(words.starts(with: ["call", "--session", "--dest", "org.freedesktop.Notifications"]))
        #expect(
            words.suffix(8) == [
                "'ykit'", "0", "'dialog-password'", #"'it\'s'"#,
                #"'&lt;b&gt;a &amp; b&lt;/b&gt;\nc\\d'"#, "['show', 'Show']", "{'urgency': <byte 2>}", "5",
            ])
        #expect(programs.starts[1].arguments.suffix(2) == ["org.freedesktop.Notifications.CloseNotification", "7"])
    }

    @Test func isRefused() throws {
        for programs in [Programs("gdbus", "(uint32 7,)", status: 1), Programs("gdbus", "nothing")] {
            let notifications = try DesktopNotifications(bus, programs.runner)
            #expect(notifications.show("a", [], milliseconds: 0) == nil)
            let buttons = NotificationButtons(notifications) { _, _ in }
            #expect(throws: DesktopError.notificationRefused) { try buttons.show("a", "a", [], actions: []) }
        }
    }

    @Test func readsSignals() {
        typealias Signal = DesktopNotifications.Signal
        #expect(Signal("The name org.freedesktop.Notifications is owned by :1.5") == .connected)
        let path = "/org/freedesktop/Notifications: org.freedesktop.Notifications"
        #expect(Signal("\(path).ActionInvoked (uint32 7, 'decline')") == .action(number: 7, name: "decline"))
        for line in ["", "\(path).NotificationClosed (uint32 7, uint32 1)", "\(path).ActionInvoked (uint32 x, 'a')"] {
            #expect(Signal(line) == nil)
        }
    }

    @Test func reportsButtons() throws {
        let pressed = Mutex<[String]>([])
        let line = "/o: org.freedesktop.Notifications.ActionInvoked (uint32 7, 'show')"
        let early = Mutex<NotificationButtons?>(nil)
        let programs = Programs([
            "gdbus": { _ in
                // The button is pressed before the number of the notification is known.
                early.withLock { $0 }?.receive(line)
                return .init(status: 0, output: Array("(uint32 7,)".utf8))
            }
        ])
        let buttons = NotificationButtons(try DesktopNotifications(bus, programs.runner)) { identifier, action in
            pressed.withLock { $0.append("\(identifier) \(action)") }
        }
        buttons.receive("The name org.freedesktop.Notifications is owned by :1.5")
        buttons.receive(line)
        #expect(pressed.withLock { $0 }.isEmpty)
        early.withLock { $0 = buttons }
        try buttons.show("first", "a", [], actions: [("show", "Show")])
        early.withLock { $0 = nil }
        buttons.receive(line)
        buttons.receive("/o: org.freedesktop.Notifications.ActionInvoked (uint32 8, 'show')")
        #expect(pressed.withLock { $0 } == ["first show", "first show"])
        let count = programs.starts.count
        buttons.close("second")
        #expect(programs.starts.count == count)
        buttons.close("first")
        #expect(programs.starts.last?.arguments.suffix(2) == ["org.freedesktop.Notifications.CloseNotification", "7"])
        buttons.receive(line)
        #expect(pressed.withLock { $0 }.count == 2)
        buttons.end()
    }
}

struct TouchNotifierTests {
    @Test func showsAndCloses() throws {
        let programs = Programs("gdbus", "(uint32 3,)")
        let notifier = TouchNotifier(.desktop(try DesktopNotifications(bus, programs.runner)), programs.runner) { _ in
            Issue.record("it failed")
        }
        notifier.begin("touch the key", for: "sign in")
        notifier.end()
        notifier.finish()
        #expect(programs.starts.map { $0.arguments.contains("'Touch the key'") } == [true, false])
        #expect(programs.starts[1].arguments.last == "3")
    }

    @Test func runsCommands() throws {
        let programs = Programs("sh", "")
        let notifier = TouchNotifier(.command("mine"), programs.runner) { _ in Issue.record("it failed") }
        notifier.begin("touch the key", for: "sign in")
        notifier.end()
        notifier.finish()
        let events = try programs.starts.map { try JSONValue(parsing: Array($0.input.utf8)) }
        #expect(programs.starts.map(\.arguments) == [["-c", "mine"], ["-c", "mine"]])
        #expect(
            events.map { $0["event"] } == ["touch", "done"] && events.map { $0["reason"] } == ["sign in", "sign in"])
        #expect(events.map { $0["message"] } == ["touch the key", .null])
    }

    @Test(arguments: [0, 1, 2]) func failsOnce(_ kind: Int) throws {
        let programs =
            kind == 1
            ? Programs(["sh": { _ throws(ProgramError) in throw .timedOut(program: "sh") }])
            : Programs([
                "sh": { _ in .init(status: 4, output: []) }, "gdbus": { _ in .init(status: 1, output: []) },
            ])
        let errors = Mutex<[DesktopError]>([])
        let means: TouchNotifier.Means =
            kind == 2 ? .desktop(try DesktopNotifications(bus, programs.runner)) : .command("mine")
        let notifier = TouchNotifier(means, programs.runner) { error in errors.withLock { $0.append(error) } }
        for _ in 0..<2 {
            notifier.begin("touch", for: "")
            notifier.end()
        }
        notifier.finish()
        let expected: [DesktopError] = [.command(status: 4), .program(.timedOut(program: "sh")), .notificationRefused]
        #expect(errors.withLock { $0 } == [expected[kind]])
    }

    @Test func doesNotWaitWhenCancelled() {
        let queue = WorkQueue()
        let cancellation = Cancellation()
        let gate = Semaphore()
        queue.add { gate.wait() }
        cancellation.cancel()
        queue.finish(by: .after(.seconds(60), cancellation: cancellation))
        gate.post()
        queue.finish(by: .after(.seconds(60)))
    }
}

struct ClipboardTests {
    @Test func copiesInWayland() throws {
        let programs = Programs([
            "wl-copy": { _ in .init(status: 0, output: []) }, "wl-paste": { _ in .init(status: 0, output: [0x31]) },
            "xclip": { _ in .init(status: 1, output: []) },
        ])
        let clipboard = try Clipboard(session("WAYLAND_DISPLAY", "DISPLAY"), programs.runner)
        try clipboard.put("1")
        try clipboard.clear(ifHolding: [0x32])
        #expect(programs.starts.map(\.name) == ["wl-copy", "wl-paste"] && programs.starts[0].input == "1")
        try clipboard.clear(ifHolding: [0x31])
        #expect(programs.starts.last?.arguments == ["--clear"])
    }

    @Test func copiesInX11() throws {
        let programs = Programs("xclip", "1")
        let clipboard = try Clipboard(session("DISPLAY"), programs.runner)
        try clipboard.put("1")
        try clipboard.clear(ifHolding: [0x31])
        let selection = ["-selection", "clipboard"]
        #expect(programs.starts.map(\.arguments) == [selection, selection + ["-o"], selection])
        #expect(programs.starts.map(\.input) == ["1", "", ""])
    }

    @Test func isMissing() throws {
        for session in [session(), session("WAYLAND_DISPLAY")] {
            #expect(throws: DesktopError.noClipboard) { try Clipboard(session, Programs("xclip", "").runner) }
        }
        let unreachable = try Clipboard(session("DISPLAY"), Programs("xclip", "", status: 1).runner)
        #expect(throws: DesktopError.clipboardUnreachable(program: "/bin/xclip")) { try unreachable.put("1") }
        let late = Programs(["xclip": { _ throws(ProgramError) in throw .timedOut(program: "xclip") }])
        #expect(throws: DesktopError.program(.timedOut(program: "xclip"))) {
            try Clipboard(session("DISPLAY"), late.runner).put("1")
        }
    }
}

struct ScreenLockTests {
    @Test(arguments: [("(<true>,)", true), ("(<false>,)", false)])
    func asksOnceASecond(_ answer: String, _ isLocked: Bool) {
        let programs = Programs("gdbus", answer)
        var lock = ScreenLock(programs.runner)
        let answers = [lock.isLocked(), lock.isLocked()]
        #expect(answers == [isLocked, isLocked] && programs.starts.count == 1)
    }

    @Test func isSilent() {
        let programs = Programs("gdbus", "(<true>,)", status: 1)
        var lock = ScreenLock(programs.runner)
        var missing = ScreenLock(Programs([:]).runner)
        let answers = [lock.isLocked(), lock.isLocked(), missing.isLocked()]
        #expect(answers == [false, false, false] && programs.starts.count == 1)
    }
}

struct PromptProgramTests {
    private static let window = session("DISPLAY")

    @Test func followsOpenSSH() {
        let programs = Programs("ssh-askpass", "").runner
        func chosen(
            _ askpass: String?, _ requirement: String?, _ session: DesktopSession, _ terminal: Bool
        )
            -> PromptProgram?
        {
            PromptProgram.askpass(askpass, requirement: requirement, session, hasTerminal: terminal, programs)
        }
        #expect(chosen("/a", nil, Self.window, false) == .askpass("/a"))
        #expect(chosen(nil, nil, Self.window, false) == .askpass("/bin/ssh-askpass"))
        #expect(chosen("/a", nil, Self.window, true) == nil && chosen("/a", "never", Self.window, false) == nil)
        #expect(chosen("/a", "prefer", Self.window, true) == .askpass("/a"))
        #expect(chosen("/a", "prefer", session(), false) == nil)
        #expect(
            chosen("/a", "force", session(), true) == .askpass("/a") && chosen(nil, "force", session(), true) == nil)
    }

    @Test func asksAskpass() {
        func secret(_ output: String, status: Int32 = 0) -> Result<[UInt8], PromptFailure> {
            let programs = Programs("a", output, status: status)
            defer { #expect(programs.starts.map(\.arguments) == [["PIN: "]]) }
            return Result { () throws(PromptFailure) in
                try PromptProgram.askpass("/bin/a").secret("PIN", programs.runner, .seconds(9)).value.copyBytes()
            }
        }
        #expect(secret("1234\n") == .success(Array("1234".utf8)))
        #expect(secret("\n") == .failure(.declined) && secret("1234", status: 1) == .failure(.declined))
        let missing = #expect(throws: PromptFailure.self) {
            try PromptProgram.askpass("/bin/none").secret("PIN", Programs([:]).runner, .seconds(9))
        }
        #expect(missing != .declined, "a program that cannot be run is not a user who declines")
    }

    private func agrees(_ program: PromptProgram, _ programs: Programs) -> Bool {
        (try? program.agree("sign?", programs.runner, .seconds(9))) != nil
    }

    @Test(
        arguments: [("", 0, true), ("Yes\n", 0, true), ("no\n", 0, false), ("", 1, false)] as [(String, Int32, Bool)])
    func confirmsByAskpass(_ output: String, _ status: Int32, _ isConfirmed: Bool) {
        let programs = Programs("a", output, status: status)
        #expect(agrees(.askpass("/bin/a"), programs) == isConfirmed)
        #expect(programs.starts.map(\.variables) == [["SSH_ASKPASS_PROMPT": "confirm"]])
    }

    @Test func asksPinentry() throws {
        let answer = Programs("pinentry", "OK\nOK\nOK\nOK\nD 12%25\nOK\nOK\n")
        let program = PromptProgram.pinentry("/bin/pinentry", PinentryTerminal { _ in nil })
        let secret = try program.secret("sign", answer.runner, .seconds(9))
        #expect(secret.value.copyBytes() == Array("12%".utf8))
        #expect(answer.starts[0].input == "SETTIMEOUT 8\nSETDESC sign\nSETPROMPT PIN:\nGETPIN\nBYE\n")
        #expect(agrees(program, Programs("pinentry", "OK\nOK\nOK\nOK\nOK\n")))
        #expect(!agrees(program, Programs("pinentry", "OK\nOK\nOK\nD 1\nOK\nOK\n")), "data is not an answer")
        #expect(!agrees(program, Programs("pinentry", "OK\nOK\nOK\nERR 1 cancelled\n")))
        #expect(!agrees(program, Programs([:])))
    }
}
